import { useState, type ReactNode } from 'react';
import { formatCount } from '../../ui/text.ts';
import type { Trace } from '../parts/answers.ts';
import { formatMicros } from '../parts/durations.ts';
import { hueStyle } from '../parts/hue-style.ts';
import { Minimap } from './minimap.tsx';
import { SpanPanel } from './span-panel.tsx';
import { SpanTree } from './span-tree.tsx';
import { windowAround } from './time-window.ts';
import { useWaterfall, type Shown, type WaterfallState } from './use-waterfall.ts';

export interface WaterfallProps {
  readonly trace: Trace;
  /** The span to begin with. */
  readonly spanId: string | undefined;
}

/** All spans of a trace below each other, each where it was in time. */
export function Waterfall({ trace, spanId }: WaterfallProps): ReactNode {
  const [shown, setShown] = useState<Shown>({ needle: '', isPathOnly: false });
  const state = useWaterfall(trace, spanId, shown);
  const { chosen, whole, zoom, choose, hues } = state;
  return (
    <div className="stack">
      <Minimap rows={state.rows} whole={whole} window={state.window} hues={hues} onZoom={zoom} />
      <Tools state={state} shown={shown} onShow={setShown} />
      <div className={chosen ? 'waterfall with-panel' : 'waterfall'}>
        <SpanTree state={state} />
        {chosen ? (
          <SpanPanel
            key={chosen.key}
            trace={trace}
            span={chosen.span}
            selfUs={state.selfTimes.get(chosen.key) ?? 0}
            pathMs={state.path.get(chosen.span.spanId)?.duration}
            onZoom={() => zoom(windowAround(chosen.span, whole))}
            onClose={() => choose(undefined)}
          />
        ) : null}
      </div>
      <ul className="legend" aria-label="Services">
        {[...hues].map(([service, hue]) => (
          <li key={service} style={hueStyle(hue)}>
            {service}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ToolsProps {
  readonly state: WaterfallState;
  readonly shown: Shown;
  readonly onShow: (shown: Shown) => void;
}

function Tools({ state, shown, onShow }: ToolsProps): ReactNode {
  const { path, window, whole, zoom } = state;
  const pathUs = [...path.values()].reduce((sum, { duration }) => sum + duration * 1_000, 0);
  return (
    <div className="row waterfall-tools">
      <SpanSearch state={state} shown={shown} onShow={onShow} />
      <button type="button" onClick={state.expandAll}>
        Expand all
      </button>
      <button type="button" onClick={state.collapseAll}>
        Collapse all
      </button>
      <label className="path-choice">
        <input
          type="checkbox"
          checked={shown.isPathOnly}
          onChange={({ target }) => onShow({ ...shown, isPathOnly: target.checked })}
        />
        Only the critical path
        <span className="faint">
          {path.size > 0 ? `${path.size} spans, ${formatMicros(pathUs)}` : ''}
        </span>
      </label>
      {window === whole ? null : (
        <button type="button" onClick={() => zoom(undefined)}>
          Show the whole time
        </button>
      )}
    </div>
  );
}

function SpanSearch({ state, shown, onShow }: ToolsProps): ReactNode {
  const { matches, goToMatch } = state;
  return (
    <form
      className="row span-search"
      onSubmit={(event) => {
        event.preventDefault();
        goToMatch(1);
      }}
    >
      <input
        type="search"
        aria-label="Search spans"
        placeholder="Name, service, attribute=value"
        value={shown.needle}
        onChange={({ target }) => onShow({ ...shown, needle: target.value })}
      />
      {matches ? (
        <>
          <output>{matches.size === 1 ? '1 match' : `${formatCount(matches.size)} matches`}</output>
          <button
            type="button"
            aria-label="Previous match"
            disabled={matches.size === 0}
            onClick={() => goToMatch(-1)}
          >
            ↑
          </button>
          <button type="submit" aria-label="Next match" disabled={matches.size === 0}>
            ↓
          </button>
        </>
      ) : null}
    </form>
  );
}
