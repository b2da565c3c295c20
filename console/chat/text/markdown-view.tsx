import { memo, type ReactNode } from 'react';
import { CodeBlock } from './code-block.tsx';
import type { Inline } from './inline.ts';
import { readMarkdown, type Block, type List, type Table } from './markdown.ts';

/** A text as Markdown. Elements are made for what was read alone, so no text becomes HTML. */
export const MarkdownView = memo(function MarkdownView({ text }: { readonly text: string }) {
  return (
    <div className="markdown">
      <Blocks blocks={readMarkdown(text)} />
    </div>
  );
});

// Parts of a text have no names but their places, and never change them.
/* oxlint-disable react/no-array-index-key */

function Blocks({ blocks }: { readonly blocks: readonly Block[] }): ReactNode {
  return blocks.map((block, index) => <BlockView key={index} block={block} />);
}

function BlockView({ block }: { readonly block: Block }): ReactNode {
  switch (block.type) {
    case 'heading':
      return <Heading level={block.level}>{inlines(block.children)}</Heading>;
    case 'code':
      return <CodeBlock language={block.language} text={block.text} />;
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list':
      return <ListView list={block} />;
    case 'table':
      return <TableView table={block} />;
    case 'rule':
      return <hr />;
    default:
      return <p>{inlines(block.children)}</p>;
  }
}

/** Below the page's own headings. */
function Heading({ level, children }: { readonly level: number; readonly children: ReactNode }) {
  if (level === 1) return <h3>{children}</h3>;
  if (level === 2) return <h4>{children}</h4>;
  return <h5>{children}</h5>;
}

function ListView({ list: { start, items } }: { readonly list: List }): ReactNode {
  const shown = items.map((blocks, index) => (
    <li key={index}>
      <Item blocks={blocks} />
    </li>
  ));
  return start === undefined ? <ul>{shown}</ul> : <ol start={start}>{shown}</ol>;
}

/** A text alone stands in its item without a paragraph's space. */
function Item({ blocks }: { readonly blocks: readonly Block[] }): ReactNode {
  const [first, ...rest] = blocks;
  if (first?.type !== 'paragraph') return <Blocks blocks={blocks} />;
  return (
    <>
      {inlines(first.children)}
      <Blocks blocks={rest} />
    </>
  );
}

function TableView({ table: { head, rows } }: { readonly table: Table }): ReactNode {
  return (
    <div className="markdown-table">
      <table>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th key={column} scope="col">
                {inlines(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, column) => (
                <td key={column}>{inlines(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(nodes: readonly Inline[]): ReactNode {
  return nodes.map((node, index) => <InlineView key={index} node={node} />);
}

function InlineView({ node }: { readonly node: Inline }): ReactNode {
  switch (node.type) {
    case 'code':
      return <code>{node.text}</code>;
    case 'strong':
      return <strong>{inlines(node.children)}</strong>;
    case 'emphasis':
      return <em>{inlines(node.children)}</em>;
    case 'strike':
      return <s>{inlines(node.children)}</s>;
    case 'link':
      return (
        <a href={node.href} target="_blank" rel="noreferrer">
          {inlines(node.children)}
        </a>
      );
    case 'break':
      return <br />;
    default:
      return node.text;
  }
}
