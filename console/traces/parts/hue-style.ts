import type { CSSProperties } from 'react';

/** Gives an element a service's hue, which the style sheet makes a colour of. */
export function hueStyle(hue: number | undefined): CSSProperties {
  // React takes custom properties, but its types do not know them.
  return { '--hue': hue } as CSSProperties;
}
