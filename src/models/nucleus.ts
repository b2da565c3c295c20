/** Small enough that the likeliest token fills it. */
const topPMin = 1e-6;

/** Both dialects write a nucleus of 0 for the likeliest token alone; the runtime wants more than 0. */
export function toTopP(topP: number | null | undefined): number | null | undefined {
  return topP === 0 ? topPMin : topP;
}
