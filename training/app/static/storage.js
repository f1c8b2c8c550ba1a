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

// Without storage the value is lost when the page is left.
export const store = (key, value, place = BROWSER) => {
  try {
    window[place].setItem(key, JSON.stringify(value));
  } catch {
    // storage is switched off or full
  }
};

export const remove = (key) => window[BROWSER].removeItem(key);
