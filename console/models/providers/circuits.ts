/** A model at a provider that is not asked for a while, because it failed too often. */
export interface OpenCircuit {
  readonly provider: string;
  readonly model: string;
}

const line = /^gateway_circuit_open\{([^\n]*)\} 1(?:\s|$)/;

/** Reads the open circuits from the gateway's metrics, which are text in the form of Prometheus. */
export function readOpenCircuits(metrics: string): readonly OpenCircuit[] {
  return metrics.split('\n').flatMap((text) => {
    const [, labels] = line.exec(text) ?? [];
    if (labels === undefined) return [];
    return [{ provider: readLabel(labels, 'provider'), model: readLabel(labels, 'model') }];
  });
}

function readLabel(labels: string, name: string): string {
  const [, value = ''] = new RegExp(`(?:^|,)${name}="((?:[^"\\\\]|\\\\.)*)"`).exec(labels) ?? [];
  return value.replaceAll(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));
}
