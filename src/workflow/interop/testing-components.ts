import { createLlmNode } from '../components/ai/llm-node.ts';
import { createFileSystemRead } from '../components/data/file-system-read.ts';
import { createHttpRequest } from '../components/data/http-request.ts';
import { createTransform } from '../components/data/transform.ts';
import { logicComponents } from '../components/logic/logic-components.ts';
import { createTable } from '../components/table.ts';
import { FlowCompiler } from '../definitions/flow-compiler.ts';

async function nowhere(): Promise<never> {
  throw new Error('nothing is run here');
}

/** A compiler over the components that imports make use of; nothing here runs. */
export function openCompiler(): FlowCompiler {
  const logic = logicComponents({
    now: Date.now,
    approvalLink: () => '',
    starter: () => {
      throw new Error('nothing is started here');
    },
    requireNameable: async () => {},
  });
  return new FlowCompiler(
    createTable([
      ...logic,
      createHttpRequest({ fetch: nowhere }),
      createTransform({ evaluate: nowhere }),
      createFileSystemRead(undefined),
      createLlmNode({ completions: nowhere }),
    ]),
  );
}
