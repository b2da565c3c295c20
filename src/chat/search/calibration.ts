import { calibrationTexts } from './calibration-texts.ts';
import { parseQuery } from './query.ts';
import { stemOf, wordsOf } from './words.ts';

/** A logistic function of one number. */
export interface Curve {
  readonly weight: number;
  readonly bias: number;
}

/**
 * How likely a message is what was asked for. Either suffices, a close meaning or the very words; what
 * both together say is corrected by a curve of its own, for they often come together.
 */
export interface Calibration {
  readonly cosine: Curve;
  readonly both: Curve;
}

/** What is known of a message and a query. */
export interface Evidence {
  /** Absent while the message, or the query, has no vector. */
  readonly cosine?: number | undefined;
  /** 0…1: the share of the query's words, rare ones counting more. */
  readonly words: number;
}

/** Turns evidence into scores that mean the same whatever embeds: the part of such hits that is right. */
export class Scores {
  readonly #words = fit(listExamples().map(({ words, isRight }) => [words, isRight]));
  readonly #calibration: Calibration | undefined;

  /** Without a calibration cosines are not looked at. */
  constructor(calibration?: Calibration) {
    this.#calibration = calibration;
  }

  /** 0…1. */
  scoreOf({ cosine, words }: Evidence): number {
    const byWords = valueOf(this.#words, words);
    if (cosine === undefined || !this.#calibration) return byWords;
    const { cosine: curve, both } = this.#calibration;
    return valueOf(both, eitherOf(valueOf(curve, cosine), byWords));
  }

  /** Fits an embedder, by its vectors of the calibration texts. */
  calibrate(vectors: readonly Float32Array[]): Calibration {
    const examples = listExamples(vectors);
    const cosine = fit(examples.map((example) => [example.cosine ?? 0, example.isRight]));
    const both = fit(
      examples.map((example) => [
        eitherOf(valueOf(cosine, example.cosine ?? 0), valueOf(this.#words, example.words)),
        example.isRight,
      ]),
    );
    return { cosine, both };
  }
}

function valueOf({ weight, bias }: Curve, at: number): number {
  return 1 / (1 + Math.exp(-(weight * at + bias)));
}

/** The log-odds that at least one of two signs is right. */
function eitherOf(one: number, other: number): number {
  const either = 1 - (1 - one) * (1 - other);
  return Math.log(either / Math.max(1e-12, 1 - either));
}

/** The texts, then the questions, whose vectors `calibrate` needs, in this order. */
export function listCalibrationTexts(): string[] {
  const asked = calibrationTexts.flatMap((entry) => entry.asked);
  return [...calibrationTexts.map(({ text }) => text), ...asked];
}

interface Example extends Evidence {
  readonly isRight: boolean;
}

function listExamples(vectors?: readonly Float32Array[]): Example[] {
  const count = calibrationTexts.length;
  const stems = calibrationTexts.map(({ text }) => stemsOf(text));
  let question = count;
  return calibrationTexts.flatMap(({ asked }, right) =>
    asked.flatMap((query) => {
      const vector = vectors?.[question];
      question += 1;
      const wanted = parseQuery(query).terms.map(({ text }) => stemOf(text));
      return stems.map((own, at) => ({
        cosine: vector && cosineOf(vector, vectors?.[at] ?? vector),
        words: wanted.filter((stem) => own.has(stem)).length / Math.max(1, wanted.length),
        isRight: at === right,
      }));
    }),
  );
}

function stemsOf(text: string): ReadonlySet<string> {
  return new Set(wordsOf(text).map(({ text: word }) => stemOf(word)));
}

/** Of vectors of length 1. */
function cosineOf(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}

const stepsMax = 50;
/** Keeps the weight finite where the examples can be told apart without a fault. */
const restraint = 0.02;

/** Newton's method on the logistic loss. The weight is not negative: more likeness is never less. */
function fit(examples: readonly (readonly [value: number, isRight: boolean])[]): Curve {
  let curve: Curve = { weight: 0, bias: 0 };
  for (let step = 0; step < stepsMax; step += 1) {
    const slope = { weight: restraint * curve.weight, bias: 0 };
    const bend = { weight: restraint, mixed: 0, bias: 1e-9 };
    for (const [value, isRight] of examples) {
      const score = valueOf(curve, value);
      const error = score - (isRight ? 1 : 0);
      const spread = score * (1 - score);
      slope.weight += error * value;
      slope.bias += error;
      bend.weight += spread * value * value;
      bend.mixed += spread * value;
      bend.bias += spread;
    }
    const area = bend.weight * bend.bias - bend.mixed ** 2;
    const weight = (slope.weight * bend.bias - slope.bias * bend.mixed) / area;
    const bias = (slope.bias * bend.weight - slope.weight * bend.mixed) / area;
    curve = { weight: Math.max(0, curve.weight - weight), bias: curve.bias - bias };
    if (Math.abs(weight) + Math.abs(bias) < 1e-9) break;
  }
  return curve;
}
