import type { ReactNode } from 'react';
import { Badge } from '../ui/badge.tsx';
import { readNested } from '../ui/entry-text.ts';
import { JsonView } from '../ui/json-view.tsx';
import { formatDuration } from '../ui/text.ts';
import type { Called } from './answers.ts';
import { readBlock, type ContentBlock } from './content-block.ts';

/** What a tool answered: its blocks, and its structured content where it has one. */
export function ToolResult({ called }: { readonly called: Called }): ReactNode {
  const { content, result, isError, duration } = called;
  const isStructured = typeof result === 'object' && result !== null;
  return (
    <section className="stack" aria-label="Result" aria-live="polite">
      <div className="row">
        <Badge
          state={isError ? 'the tool says that it failed' : 'answered'}
          tone={isError ? 'bad' : 'good'}
        />
        <span className="faint">{formatDuration(duration)}</span>
      </div>
      {isStructured ? <JsonView value={result} /> : null}
      {content.map((block, index) => (
        // Blocks of one answer never move.
        // oxlint-disable-next-line react/no-array-index-key
        <Block key={index} block={readBlock(block)} />
      ))}
      {content.length === 0 && !isStructured ? <p className="faint flat">Nothing at all.</p> : null}
    </section>
  );
}

function Block({ block }: { readonly block: ContentBlock }): ReactNode {
  switch (block.kind) {
    case 'text':
      // Texts of tools are often JSON in one line.
      return <JsonView value={readNested(block.text)} />;
    case 'image':
      return <img className="result-image" src={block.url} alt="The tool’s answer" />;
    case 'file':
      return (
        <a href={block.url} download={block.name}>
          Save {block.name}
        </a>
      );
    case 'link':
      return (
        <p className="flat">
          {block.name}: <code>{block.uri}</code>
        </p>
      );
    default:
      return <JsonView value={block.value} />;
  }
}
