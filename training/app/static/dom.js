// Elements of the page: look one up, create one, or show an error in one.

export const byId = (id) => document.getElementById(id);

export const createElement = (name, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
};

// An SVG element, with attributes in place of properties.
export const createSvg = (name, attributes, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

// Call a function when a form is submitted, and enable its submit button. Until then the page has it
// disabled: the browser itself would send the form.
export const onSubmit = (form, action) => {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    action();
  });
  for (const field of form.elements) if (field.type === "submit") field.disabled = false;
};

// Show an error's message in the element that announces errors; null hides it.
export const showError = (error, id = "error") => {
  byId(id).hidden = !error;
  byId(id).textContent = error?.message ?? "";
};

// Save a text as a file of the user.
export const download = (name, text) => {
  const href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  createElement("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
};
