// Values that the browser keeps for the next visit, as JSON.

// Null if nothing is stored, or storage is switched off or damaged.
export const readStored = (key) => {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
};

// Without storage the value is lost when the page is left.
export const store = (key, value) => {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // storage is switched off or full
  }
};
