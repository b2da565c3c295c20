/**
 * A model's name as the tables here know it: in lower case, without the maker or folder in front
 * (`meta-llama/…`, `accounts/fireworks/models/…`), a tuned one (`ft:…`) as what it was tuned from.
 */
export function bareName(model: string): string {
  const name = model.toLowerCase();
  return name.slice(name.lastIndexOf('/') + 1).replace(/^ft:/, '');
}
