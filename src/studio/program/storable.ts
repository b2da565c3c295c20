import { isStorable, toStorable } from '../../kit/storable-json.ts';

/** The same with U+FFFD for what no service takes in a text: test commands print it, and models write it. */
export function storable<Value>(value: Value): Value {
  const json = JSON.stringify(value);
  // What goes in comes out, but for letters in its texts.
  return isStorable(json) ? value : (JSON.parse(toStorable(json)) as Value);
}
