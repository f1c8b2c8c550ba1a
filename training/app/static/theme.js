// Colour theme: the system's, or the user's choice. Runs before the browser paints the page.

const loadTheme = () => {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null; // storage is switched off
  }
};

const system = matchMedia("(prefers-color-scheme: dark)");
const currentTheme = () => document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light");

const labelButton = () => {
  const other = currentTheme() === "dark" ? "light" : "dark";
  const button = document.getElementById("theme");
  button.setAttribute("aria-label", `Change to ${other} colours`);
  button.title = `Change to ${other} colours`;
};

const toggle = () => {
  const theme = currentTheme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // without storage the choice holds for this page only
  }
  labelButton();
};

const theme = loadTheme();
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", toggle);
  system.addEventListener("change", labelButton);
  labelButton();
});
