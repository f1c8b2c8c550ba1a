// Light or dark: as the system has it, until the reader chooses. Runs before the page is drawn.

const stored = () => {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null; // storage is switched off
  }
};

const system = matchMedia("(prefers-color-scheme: dark)");
const current = () => document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light");

const label = () => {
  const other = current() === "dark" ? "light" : "dark";
  const button = document.getElementById("theme");
  button.setAttribute("aria-label", `Change to ${other} colours`);
  button.title = `Change to ${other} colours`;
};

const toggle = () => {
  const theme = current() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // it holds for this page then
  }
  label();
};

const theme = stored();
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", toggle);
  system.addEventListener("change", label);
  label();
});
