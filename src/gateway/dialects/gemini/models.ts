/** What the generations of Gemini differ in. Names that tell nothing count as the newest. */
export interface ModelTraits {
  /** Wants signatures on calls, takes images in results of tools, and is told to think by a level. */
  readonly isThird: boolean;
  /** Can be told how much to think. */
  readonly canThink: boolean;
  /** Cannot be told not to think. */
  readonly alwaysThinks: boolean;
  readonly takesPenalties: boolean;
  /** What it can be told of how much to think where that is a level, least first. */
  readonly levels: readonly ThinkingLevel[];
}

export type ThinkingLevel = (typeof allLevels)[number];

const allLevels = ['minimal', 'low', 'medium', 'high'] as const;

const second = /gemini-2(?:[.-]|$)/;
const first = /gemini-(?:1(?:[.-]|$)|pro)/;
/** Those before 2.5 refuse to be told how much to think, but for experiments with it in their name. */
const thoughtless = /gemini-(?:1(?:[.-]|$)|pro|2\.0(?!.*thinking))|^gemma/;

/** Refuses `medium`, which the versions after it know. */
const twoLevels = /gemini-3(?:\.0)?-pro/;
/** Flash models up to 3.6 and their small ones know `minimal`; Pro models and later ones refuse it. */
const fourLevels = /gemini-3(?:\.[0-6])?-flash/;

function levelsOf(model: string): readonly ThinkingLevel[] {
  if (twoLevels.test(model)) return ['low', 'high'];
  return fourLevels.test(model) ? allLevels : allLevels.slice(1);
}

export function traitsOf(model: string): ModelTraits {
  const isThird = !second.test(model) && !first.test(model) && !model.startsWith('gemma');
  return {
    isThird,
    canThink: !thoughtless.test(model),
    alwaysThinks: isThird || model.includes('2.5-pro'),
    takesPenalties: !model.includes('gemini-2.5'),
    levels: levelsOf(model),
  };
}
