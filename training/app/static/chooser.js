// Form fields that choose an agent with its limits, or an opening (template/parts.html.jinja).

// The agent decides which limits there are. Returns a function that reads the fields: `player` is
// {agent, amount, seconds} for the server, `label` the agent's name.
export const agentChooser = (form) => {
  const [agent, amount, seconds] = ["agent", "amount", "seconds"].map(
    (name) => form.querySelector(`[data-field="${name}"]`));
  const update = () => {
    const { limit, most, standard, about } = agent.selectedOptions[0].dataset;
    for (const field of [amount, seconds]) {
      field.closest(".field").hidden = field.disabled = !limit; // the browser does not validate it then
    }
    form.querySelector("[data-field=unit]").textContent = limit === "depth" ? "Plies" : "Simulations";
    form.querySelector("[data-field=about]").textContent = about;
    Object.assign(amount, { max: most ?? "", value: standard ?? "" });
  };
  agent.addEventListener("change", update);
  update();
  return () => {
    const { limit } = agent.selectedOptions[0].dataset;
    const number = (field) => (limit && field.value !== "" ? Number(field.value) : null);
    return {
      label: agent.selectedOptions[0].textContent,
      player: { agent: agent.value, amount: number(amount), seconds: number(seconds) },
    };
  };
};

// Some openings need a text. Returns a function that reads the fields: {opening} or {pdn}.
export const openingChooser = (form) => {
  const choice = form.querySelector("[data-field=opening]");
  const fields = [...form.querySelectorAll("[data-opening]")];
  const update = () => {
    for (const field of fields) field.hidden = field.dataset.opening !== choice.value;
  };
  choice.addEventListener("change", update);
  update();
  return () => {
    const field = fields.find(({ dataset }) => dataset.opening === choice.value);
    if (!field) return { opening: choice.value };
    const text = field.querySelector("input:not([type=file]), textarea").value.trim();
    if (!text) throw new Error("Give the opening, or the game to go on with, or choose another one.");
    return choice.value === "pdn" ? { pdn: text } : { opening: text };
  };
};
