/** A flaw of a content part: where in it, and what it must be. */
export interface PartFlaw {
  readonly field: string;
  readonly message: string;
}

/** Content parts that a question may have. */
export const partTypes: ReadonlySet<string> = new Set([
  'text',
  'input_text',
  'refusal',
  'image_url',
  'input_image',
  'input_audio',
  'file',
  'video_url',
]);

type Fields = Readonly<Record<string, unknown>>;

const mustBeName = 'must be a text that is not empty';
const mustBeAddress = 'must be an http(s) address or a data: address in base64';

/**
 * What the gateway would refuse a part for whatever model is asked; undefined where there is nothing. Of
 * the types that it hands on unread only the provider knows.
 */
export function findPartFlaw(part: Fields): PartFlaw | undefined {
  switch (part['type']) {
    case 'text':
    case 'input_text':
      return textFlaw(part);
    case 'image_url':
      return imageFlaw(part['image_url']);
    case 'input_audio':
      return audioFlaw(part['input_audio']);
    case 'file':
      return fileFlaw(part['file']);
    default:
      return undefined;
  }
}

function textFlaw({ text }: Fields): PartFlaw | undefined {
  return typeof text === 'string' ? undefined : { field: 'text', message: 'must be a text' };
}

/** The address itself, as Mistral takes it, or an object with it. */
function imageFlaw(image: unknown): PartFlaw | undefined {
  if (typeof image === 'string') return addressFlaw(image, 'image_url');
  if (!isFields(image)) return { field: 'image_url', message: 'must be an object' };
  return addressFlaw(image['url'], 'image_url.url') ?? optionalText(image, 'image_url', 'detail');
}

function audioFlaw(audio: unknown): PartFlaw | undefined {
  if (!isFields(audio)) return { field: 'input_audio', message: 'must be an object' };
  const { data, format } = audio;
  if (!isName(data)) return { field: 'input_audio.data', message: mustBeName };
  if (format === 'wav' || format === 'mp3') return undefined;
  return { field: 'input_audio.format', message: 'must be wav or mp3' };
}

/** With its bytes as a data: address or in base64, or the id under which a provider has it. */
function fileFlaw(file: unknown): PartFlaw | undefined {
  if (!isFields(file)) return { field: 'file', message: 'must be an object' };
  const { file_id: id, file_data: data } = file;
  if (isAbsent(data) && !isAbsent(id)) return undefined;
  if (!isName(data)) return { field: 'file.file_data', message: mustBeName };
  const flaw = data.includes(':') ? addressFlaw(data, 'file.file_data') : undefined;
  return flaw ?? optionalText(file, 'file', 'filename');
}

function addressFlaw(address: unknown, field: string): PartFlaw | undefined {
  if (!isName(address)) return { field, message: mustBeName };
  if (/^https?:\/\//i.test(address)) return undefined;
  const head = address.slice(0, Math.max(0, address.indexOf(',')));
  const isData = /^data:[\w.+/-]+(?:;[\w=.-]+)*;base64$/i.test(head);
  return isData ? undefined : { field, message: mustBeAddress };
}

function optionalText(fields: Fields, at: string, name: string): PartFlaw | undefined {
  const value = fields[name];
  if (isAbsent(value) || typeof value === 'string') return undefined;
  return { field: `${at}.${name}`, message: 'must be a text' };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
