// Values that the browser keeps as JSON: for the next visit, or in TAB as long as the tab is open.

export const TAB = "sessionStorage";
const BROWSER = "localStorage";

// Null if nothing is stored, or storage is switched off or damaged.
export const readStored = (key, place = BROWSER) => {
  try {
    return JSON.parse(window[place].getItem(key));
  } catch {
    return null;
  }
};

// Null removes the value. Without storage it is lost when the page is left.
export const store = (key, value, place = BROWSER) => {
  try {
    if (value === null) window[place].removeItem(key);
    else window[place].setItem(key, JSON.stringify(value));
  } catch {
    // storage is switched off or full
  }
};
