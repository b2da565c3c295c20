import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkflow, type Caller } from './testing.ts';

let running: Awaited<ReturnType<typeof startWorkflow>>;
let ada: Caller;
let eve: Caller;

beforeAll(async () => {
  running = await startWorkflow();
  ada = await running.callAs('usr_ada');
  eve = await running.callAs('usr_eve');
});
afterAll(() => running[Symbol.asyncDispose]());

const say = (text: string) => ({
  nodes: [{ id: 'say', type: 'Merge', data: { inputs: { text } } }],
});

/** A workflow of Ada's whose second version is a draft. */
async function makeWithDraft(): Promise<string> {
  const made = await ada('POST', '/api/v1/workflows', {
    body: { name: 'Said', flow: say('published') },
  });
  const id = made.body.id as string;
  const body = { flow: say('secret draft'), publish: false };
  const changed = await ada('PUT', `/api/v1/workflows/${id}`, { body });
  expect(changed).toMatchObject({ status: 200 });
  return id;
}

/** What becomes of a flow of somebody's that runs this version of another workflow. */
async function runAround(author: Caller, runner: Caller, child: object) {
  const flow = { nodes: [{ id: 'sub', type: 'SubWorkflow', data: child }] };
  const made = await author('POST', '/api/v1/workflows', { body: { name: 'Around', flow } });
  const path = `/api/v1/workflows/${made.body.id as string}/execute`;
  const { body } = await runner('POST', path, { body: { options: { async: false } } });
  return body;
}

describe('a SubWorkflow that names a version', () => {
  it('does not run a draft of somebody else', async () => {
    const workflowId = await makeWithDraft();
    const body = await runAround(eve, eve, { workflowId, version: 2 });
    expect(body).toMatchObject({
      status: 'failed',
      error: { nodeId: 'sub', code: 'WORKFLOW_NOT_ACTIVE' },
    });
    expect(JSON.stringify(body)).not.toContain('secret draft');
  });

  it('does not tell of a workflow of somebody else that was never published', async () => {
    const made = await ada('POST', '/api/v1/workflows', {
      body: { name: 'Hidden', flow: say('secret draft'), status: 'draft' },
    });
    const body = await runAround(eve, eve, { workflowId: made.body.id as string, version: 1 });
    expect(body).toMatchObject({ status: 'failed', error: { code: 'WORKFLOW_NOT_FOUND' } });
  });

  it('runs a version of anybody that was published', async () => {
    const workflowId = await makeWithDraft();
    const body = await runAround(eve, eve, { workflowId, version: 1 });
    expect(body).toMatchObject({
      result: { sub: { result: { say: { merged: { text: 'published' } } } } },
    });
  });

  it('runs a draft of the owner of its flow, whoever executes that', async () => {
    const workflowId = await makeWithDraft();
    const body = await runAround(ada, eve, { workflowId, version: 2 });
    expect(body).toMatchObject({
      result: { sub: { result: { say: { merged: { text: 'secret draft' } } } } },
    });
  });
});
