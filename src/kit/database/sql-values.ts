import { types, type CustomTypesConfig } from 'pg';
import { Fault } from '../errors.ts';

type Parse = (text: string) => unknown;
// The driver's own list of types leaves out the arrays, though it has their parsers.
const getDriverParser: (type: number, format?: 'text' | 'binary') => Parse = types.getTypeParser;
const parseTextArray = getDriverParser(1009);

const parsers: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [20, parseInt8],
  [1016, (text) => mapDeep(parseTextArray(text), parseInt8)],
  [1231, parseTextArray], // numeric[]: the driver's own parser would round to a double
  [1082, keepText], // date: a Date would move it by the process's time zone
  [1182, parseTextArray],
  [1114, keepText], // timestamp without time zone: there is no instant to make a Date of
  [1115, parseTextArray],
  [1186, keepText], // interval
  [1187, parseTextArray],
]);

/**
 * How SQL values become JavaScript values, on both databases alike: int8 a number (a value beyond
 * 2^53 rejects the query: select it as text), numeric, date, timestamp and interval strings,
 * timestamptz a Date, json and jsonb parsed, bytea a Buffer, arrays arrays of these.
 */
export const valueParsers: CustomTypesConfig = {
  getTypeParser: (type, format) =>
    (format === 'binary' ? undefined : parsers.get(type)) ?? getDriverParser(type, format),
};

function keepText(text: string): string {
  return text;
}

function parseInt8(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new Fault('internal', `the int8 ${text} does not fit a number; select it as text`);
}

function mapDeep(value: unknown, parse: Parse): unknown {
  if (Array.isArray(value)) return value.map((element) => mapDeep(element, parse));
  return typeof value === 'string' ? parse(value) : value;
}
