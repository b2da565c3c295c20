/** What the generations of Claude differ in. Models of another name are taken at their word. */
export interface ModelTraits {
  /** Knows `output_config.format` and `strict` tools. */
  readonly takesSchemas: boolean;
  /** `one`: temperature or top_p, not both. */
  readonly sampling: 'free' | 'one' | 'none';
  /** Goes on with an assistant message that ends the request. */
  readonly takesPrefill: boolean;
  /** Knows the tool choices `any` and `tool`. */
  readonly takesForcedTools: boolean;
  /** How it is told to think: not at all, by a number of tokens, or by an effort. */
  readonly thinking: 'none' | 'budget' | 'effort';
  /** Whether it thinks unless it is told not to; `always`: it cannot be told so. */
  readonly thinksByDefault: boolean | 'always';
  /** Its name for the greatest effort that all dialects know. */
  readonly greatestEffort: 'max' | 'xhigh';
}

const unknownModel: ModelTraits = {
  takesSchemas: true,
  sampling: 'free',
  takesPrefill: true,
  takesForcedTools: true,
  thinking: 'budget',
  thinksByDefault: false,
  greatestEffort: 'xhigh',
};

/** Such as `claude-sonnet-4-5-20250929`; the number behind the second dash may be a date instead. */
const named = /claude-([a-z]+)-(\d+)(?:[-.](\d{1,2})(?!\d))?/;
/** Such as `claude-3-5-sonnet-20241022`. */
const oldNamed = /claude-(?:instant|v?2|3[-.]?(\d(?!\d))?)/;

/** What the model of that name upstream knows; the name says all that there is to go by. */
export function traitsOf(model: string): ModelTraits {
  const [, family = '', major, minor = '0'] = named.exec(model) ?? [];
  if (major !== undefined) return traitsOfVersion(family, Number(major) * 10 + Number(minor));
  const old = oldNamed.exec(model);
  if (!old) return unknownModel;
  return {
    ...unknownModel,
    takesSchemas: false,
    thinking: old[1] === '7' ? 'budget' : 'none',
  };
}

/** `version` is ten times the major one, plus the minor one. */
function traitsOfVersion(family: string, version: number): ModelTraits {
  const isFable = family === 'fable';
  const isHaiku = family === 'haiku';
  return {
    takesSchemas: version >= 41,
    sampling: samplingOf(version),
    takesPrefill: version < 46,
    takesForcedTools: isHaiku || version < (isFable ? 51 : 55),
    thinking: version >= 46 ? 'effort' : 'budget',
    thinksByDefault: isFable || (version >= 55 && !isHaiku) ? 'always' : version >= 50,
    greatestEffort: version >= 47 ? 'xhigh' : 'max',
  };
}

function samplingOf(version: number): ModelTraits['sampling'] {
  if (version >= 47) return 'none';
  return version >= 41 ? 'one' : 'free';
}
