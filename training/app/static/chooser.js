// The part of a form that chooses an agent with its limits, or an opening (template/choosers.html.jinja).

// An agent's limits follow from which one is chosen. Returns a function that tells what the server wants
// to know as `player`, {agent, amount, seconds}, and as `label` what the agent is called.
export const agentChooser = (element) => {
  const [agent, amount, seconds] = ["agent", "amount", "seconds"].map(
    (name) => element.querySelector(`[data-field="${name}"]`));
  const fill = () => {
    const { limit, most, standard, about } = agent.selectedOptions[0].dataset;
    for (const field of [amount, seconds]) {
      field.closest(".field").hidden = field.disabled = !limit; // what is not seen is not to be right
    }
    element.querySelector("[data-field=unit]").textContent = limit === "depth" ? "Plies" : "Simulations";
    element.querySelector("[data-field=about]").textContent = about;
    Object.assign(amount, { max: most ?? "", value: standard ?? "" });
  };
  agent.addEventListener("change", fill);
  fill();
  return () => {
    const limited = agent.selectedOptions[0].dataset.limit;
    const whole = (field) => (limited && field.value !== "" ? Number(field.value) : null);
    return {
      label: agent.selectedOptions[0].textContent,
      player: { agent: agent.value, amount: whole(amount), seconds: whole(seconds) },
    };
  };
};

// The last openings of the list ask for a text. Returns {opening} or {pdn}.
export const openingChooser = (element) => {
  const choice = element.querySelector("[data-field=opening]");
  const texts = [...element.querySelectorAll("[data-opening]")];
  const fill = () => {
    for (const text of texts) text.hidden = text.dataset.opening !== choice.value;
  };
  choice.addEventListener("change", fill);
  fill();
  return () => {
    const text = texts.find(({ dataset }) => dataset.opening === choice.value);
    if (!text) return { opening: choice.value };
    const given = text.querySelector("input:not([type=file]), textarea").value.trim();
    if (!given) throw new Error("Give the opening, or the game to go on with, or choose another one.");
    return choice.value === "pdn" ? { pdn: given } : { opening: given };
  };
};
