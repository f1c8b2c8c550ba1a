// Form "Start a small run": the server trains it in a process of its own, one at a time.
//
// connectLaunch(onStart) returns a function that asks for the run's progress; without any run it opens the form.

import { byId, onSubmit, showError } from "/static/dom.js";
import { request } from "/static/server.js";

const ADDRESS = "/api/launch";
const WIDE = "(min-width: 52rem)"; // where the open form is one row

export const connectLaunch = (onStart) => {
  const form = byId("launch");
  if (!form) return () => {}; // the server has no folder of runs, or there is no server
  const { preset, generations, seed } = form.elements;
  const start = form.querySelector("button");
  let isRunning = true; // until the server says otherwise
  byId("launch-panel").open = matchMedia(WIDE).matches;

  const describePreset = () => {
    const { source, seconds } = preset.selectedOptions[0].dataset;
    const time = Math.max(1, Math.round(Number(seconds) * Number(generations.value)));
    byId("launch-about").textContent = `${source}. About ${time} ${time === 1 ? "second" : "seconds"} of one core, at low priority.`;
  };

  const showStatus = ({ state, generation, generations: last, message, command }) => {
    isRunning = state === "running";
    start.disabled = isRunning;
    byId("launched").hidden = state === "none";
    if (state === "none") return;
    byId("launch-panel").open ||= isRunning;
    Object.assign(byId("launch-bar"), { max: last, value: generation });
    if (byId("launch-status").textContent !== message) byId("launch-status").textContent = message;
    byId("launch-stop").hidden = !isRunning;
    byId("launch-resume").hidden = state !== "stopped";
    byId("launch-command").textContent = command;
  };

  const attempt = async (action) => {
    showError(null, "launch-error");
    try {
      await action();
    } catch (error) {
      showError(error, "launch-error");
      isRunning = true; // perhaps: another tab may have started a run
    }
  };

  form.addEventListener("change", describePreset);
  onSubmit(form, () => attempt(async () => {
    const body = { preset: preset.value, generations: Number(generations.value), seed: Number(seed.value) };
    const status = await request(ADDRESS, body);
    showStatus(status);
    onStart(status.name);
  }));
  byId("launch-stop").addEventListener("click", () =>
    attempt(async () => showStatus(await request(`${ADDRESS}/stop`, {}))));
  describePreset();

  return async (hasRuns) => {
    byId("launch-panel").open ||= !hasRuns;
    if (!isRunning) return;
    try {
      showStatus(await request(ADDRESS));
    } catch {
      // the page's own status says that the server does not answer
    }
  };
};
