// Settings of the user, as attributes of <html> such as `data-board="green"`; without one a setting has its first value.
// It runs before the browser paints the page.

const SETTINGS = ["board", "pieces", "coordinates", "bar", "sound"];
const root = document.documentElement;

let storage = {}; // without the browser's own a choice holds for this page only
try {
  storage = localStorage;
} catch {
  // it is switched off
}

const apply = (name, value) => {
  if (value) root.dataset[name] = value;
  else delete root.dataset[name];
};

const system = matchMedia("(prefers-color-scheme: dark)");
const currentTheme = () => root.dataset.theme ?? (system.matches ? "dark" : "light");

const labelButton = () => {
  const other = currentTheme() === "dark" ? "light" : "dark";
  const button = document.getElementById("theme");
  button.setAttribute("aria-label", `Change to ${other} colours`);
  button.title = `Change to ${other} colours`;
};

const toggleTheme = () => {
  const theme = currentTheme() === "dark" ? "light" : "dark";
  apply("theme", theme);
  storage.theme = theme;
  labelButton();
};

const connectDialog = () => {
  const dialog = document.getElementById("settings");
  document.getElementById("settings-button").addEventListener("click", () => dialog.showModal());
  for (const field of dialog.querySelectorAll("[data-setting]")) {
    const { setting } = field.dataset;
    field.value = root.dataset[setting] ?? "";
    field.addEventListener("change", () => {
      apply(setting, field.value);
      storage[setting] = field.value;
    });
  }
};

if (["light", "dark"].includes(storage.theme)) apply("theme", storage.theme);
for (const name of SETTINGS) apply(name, (storage[name] ?? "").replace(/[^a-z]/g, ""));
addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", toggleTheme);
  system.addEventListener("change", labelButton);
  labelButton();
  connectDialog();
});
