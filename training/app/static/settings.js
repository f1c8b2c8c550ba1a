// Settings of the user: light or dark colours, the look of the board, and sound. Runs before the
// browser paints the page. A setting is an attribute of <html>, as `data-board="green"`; without the
// attribute it has its first value.

const SETTINGS = ["board", "pieces", "coordinates", "bar", "sound"];
const root = document.documentElement;

const load = (name) => {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return ""; // storage is switched off
  }
};

const store = (name, value) => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // without storage the choice holds for this page only
  }
};

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
  store("theme", theme);
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
      store(setting, field.value);
    });
  }
};

const theme = load("theme");
if (theme === "light" || theme === "dark") apply("theme", theme);
for (const name of SETTINGS) apply(name, load(name).replace(/[^a-z]/g, ""));
addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", toggleTheme);
  system.addEventListener("change", labelButton);
  labelButton();
  connectDialog();
});
