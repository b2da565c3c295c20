import { describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import type { VoiceCommand } from './voice.ts';
import { aCaller, anOrchestration, openVoice, says, type Happening } from './testing.ts';

const speaker = aCaller('usr_one');
const worker = aCaller('usr_one', ['mesh:communicate']);
const toolUser = aCaller('usr_one', ['registry:call']);
const assistant = {
  agentId: 'assistant-1',
  name: 'assistant-1',
  status: 'active',
  load: 0.25,
  capabilities: ['chat', 'summarization'],
};

function open() {
  const opened = openVoice();
  let sessionId: string | undefined;
  const say = async (transcription: string, fields: Partial<VoiceCommand> = {}, who = speaker) => {
    const session = sessionId === undefined ? {} : { sessionId };
    const command = { transcription, confidence: 0.9, ...session, ...fields };
    const feedback = await opened.voice.obey(who, command);
    sessionId = feedback.sessionId;
    return feedback;
  };
  return { ...opened, say };
}

describe('what was not heard well', () => {
  test.each([0.49, 0, Number.NaN])(
    'is asked back at a confidence of %d, and not done',
    async (confidence) => {
      const { say, conversations, turns, ground } = open();
      expect(await say('new conversation', { confidence })).toMatchObject({ action: 'clarify' });
      expect(await say('what is new', { confidence })).toMatchObject({ action: 'clarify' });
      expect([conversations.all, turns.begun, ground.sortings]).toEqual([[], [], 0]);
    },
  );

  test('is done after a yes', async () => {
    const { say, conversations } = open();
    const asked = await say('new conversation called Tea', { confidence: 0.3 });
    expect(asked.speech).toContain('“new conversation called Tea”');
    expect(await say('yes')).toMatchObject({ action: 'new_conversation' });
    expect(conversations.all).toMatchObject([{ title: 'Tea' }]);
  });

  test('is not done after a no, nor later', async () => {
    const { say, conversations } = open();
    await say('new conversation', { confidence: 0.3 });
    expect(await say('no')).toMatchObject({ action: 'cancel' });
    expect(await say('yes')).toMatchObject({ action: 'clarify' });
    expect(conversations.all).toEqual([]);
  });

  test('does not count as the yes to something else, which still waits for one', async () => {
    const { say, conversations } = open();
    await say('new conversation called Tea');
    await say('delete this conversation');
    expect(await say('yes', { confidence: 0.2 })).toMatchObject({ action: 'clarify' });
    expect(conversations.all).toHaveLength(1);
    expect(await say('yes')).toMatchObject({ action: 'delete_conversation' });
    expect(conversations.all).toEqual([]);
  });

  test('or not at all is asked back', async () => {
    const { say } = open();
    expect(await say('   ')).toMatchObject({ action: 'clarify' });
  });
});

describe('deleting', () => {
  async function withTea() {
    const opened = open();
    await opened.conversations.create('usr_one', { title: 'Tea' });
    await opened.conversations.create('usr_two', { title: 'Secret' });
    return opened;
  }

  test('asks first, and does it after a yes', async () => {
    const { say, conversations } = await withTea();
    const asked = await say('delete conversation tea');
    expect(asked).toMatchObject({ action: 'confirm_delete_conversation' });
    expect(asked.speech).toContain('“Tea” with no messages');
    expect(conversations.all).toHaveLength(2);
    expect(await say('yes')).toMatchObject({
      action: 'delete_conversation',
      speech: 'I deleted “Tea”.',
    });
    expect(conversations.all).toMatchObject([{ title: 'Secret' }]);
  });

  test('needs the yes in the same session, of the same person, before anything else, once', async () => {
    const { say, conversations, voice } = await withTea();
    const { sessionId } = await say('delete conversation tea');
    const yes = { transcription: 'yes', confidence: 1 };
    expect(await voice.obey(speaker, yes)).toMatchObject({ action: 'clarify' });
    expect(await voice.obey(aCaller('usr_two'), { ...yes, sessionId })).toMatchObject({
      action: 'clarify',
    });
    await say('list my conversations');
    expect(await say('yes')).toMatchObject({ action: 'clarify' });
    expect(conversations.all).toHaveLength(2);
    await say('delete conversation tea');
    await Promise.all([say('yes'), say('yes')]);
    expect(conversations.all).toHaveLength(1);
  });

  test('finds nobody else’s conversation', async () => {
    const { say } = await withTea();
    expect(await say('delete conversation secret')).toMatchObject({ action: 'not_found' });
  });

  test('asks which one where several are meant', async () => {
    const { say, conversations } = await withTea();
    await conversations.create('usr_one', { title: 'Tea with milk' });
    await conversations.create('usr_one', { title: 'Teapots' });
    expect(await say('delete conversation tea')).toMatchObject({
      action: 'confirm_delete_conversation',
    });
    const asked = await say('delete conversation te');
    expect(asked).toMatchObject({ action: 'clarify' });
    expect(asked.speech).toContain('3 such conversations');
    await conversations.create('usr_one', { title: 'tea!' });
    expect(await say('delete conversation tea')).toMatchObject({ action: 'clarify' });
  });

  test('says that it is gone when it went in between', async () => {
    const { say, conversations } = await withTea();
    await say('delete conversation tea');
    conversations.all.splice(0);
    expect(await say('yes')).toMatchObject({ action: 'not_found' });
  });
});

describe('conversations', () => {
  test('are made, renamed, listed, opened and searched', async () => {
    const { say, conversations, ground } = open();
    expect(await say('new conversation called Taxes')).toMatchObject({
      speech: 'I began a new conversation called “Taxes”.',
      conversationId: 'cnv_1',
    });
    await say('rename this conversation to Money');
    expect(conversations.all).toMatchObject([{ title: 'Money' }]);
    await say('new conversation called Tea');
    expect(await say('list my conversations')).toMatchObject({
      speech: 'You have 2 conversations: “Tea” and “Money”.',
    });
    expect(await say('open conversation money')).toMatchObject({ conversationId: 'cnv_1' });
    expect((await say('search my conversations for dragons')).speech).toBe(
      'I found no conversations about “dragons”.',
    );
    expect(await say('find the way to Rome')).toMatchObject({ action: 'answer' });
    expect(await say('search for dragons')).toMatchObject({ action: 'search_conversations' });
    ground.hits = [{ conversationId: 'cnv_1', title: 'Money', score: 0.9, hits: [] }];
    expect((await say('find tax')).speech).toBe('I found 1 conversation about “tax”: “Money”.');
    expect((await say('search my conversations for tax')).speech).toBe(
      'I found 1 conversation about “tax”: “Money”.',
    );
  });

  test('are not renamed or deleted when none is meant', async () => {
    const { say } = open();
    expect(await say('rename this conversation to Money')).toMatchObject({ action: 'clarify' });
    expect(await say('delete this conversation')).toMatchObject({ action: 'clarify' });
    expect(await say('open conversation Money')).toMatchObject({ action: 'not_found' });
  });

  test('their last answer is read without what is only there to be looked at', async () => {
    const { say, conversations } = open();
    expect((await say('read the last answer')).speech).toBe('You have no conversation yet.');
    await conversations.create('usr_one', { title: 'Tea' });
    expect((await say('read the last answer')).speech).toBe('There is no answer in “Tea”.');
    const content = '## Tea\n\n**Boil** [water](http://x.test).\n```js\nbrew();\n```\n- Wait.';
    const base = { id: 'msg_1', place: 1, status: 'complete', createdAtMs: 0 } as const;
    conversations.said.push({ ...base, conversationId: 'cnv_1', role: 'assistant', content });
    expect((await say('read the last answer')).speech).toBe(
      'Tea Boil water. (a piece of code) Wait.',
    );
  });
});

describe('agents', () => {
  test('are listed, and their status is told', async () => {
    const { say, ground } = open();
    expect((await say('what agents are there')).speech).toBe('There are no agents.');
    ground.agents.push(assistant);
    expect((await say('what agents are there')).speech).toBe('There is 1 agent: assistant-1.');
    expect((await say('status of agent Assistant one')).speech).toBe(
      'assistant-1 is active, has a load of 25 percent, and does chat and summarization.',
    );
    expect(await say('status of agent Smith')).toMatchObject({ action: 'not_found' });
  });

  test('are given a task, whose result is told', async () => {
    const { say, ground } = open();
    ground.agents.push(assistant);
    expect(await say('how far is it')).toMatchObject({ action: 'clarify' });
    expect(await say('ask assistant one to sum up my day', {}, worker)).toMatchObject({
      action: 'ask_agent',
    });
    expect(ground.started).toMatchObject([{ agents: ['assistant-1'], task: 'sum up my day' }]);
    const running = anOrchestration(worker, {
      task: 't',
      agents: ['a'],
      isParallel: true,
      timeoutMs: 1,
    });
    ground.orchestration = running;
    expect((await say('how far is it', {}, worker)).speech).toContain('0 percent');
    const step = {
      agentId: 'a',
      name: 'a',
      status: 'completed',
      result: { text: 'All is well.' },
    } as const;
    ground.orchestration = { ...running, status: 'completed', steps: [step] };
    expect((await say('is it done', {}, worker)).speech).toBe('a says: All is well.');
  });

  test('get no task from who may give none, nor under a name that nobody has', async () => {
    const { say, ground } = open();
    ground.agents.push(assistant);
    expect(await say('ask assistant-1 to dance')).toMatchObject({ action: 'refused' });
    expect(await say('ask Smith to dance', {}, worker)).toMatchObject({ action: 'not_found' });
    expect(ground.started).toEqual([]);
  });

  test('a status of what is no agent is a question', async () => {
    const { say, turns } = open();
    expect(await say('what is the status of the French Revolution')).toMatchObject({
      action: 'answer',
    });
    expect(turns.begun).toHaveLength(1);
  });
});

describe('questions', () => {
  test('go to a model in a conversation of their own, and the answer is spoken', async () => {
    const { say, turns, ground } = open();
    turns.scripts = [says('Paris.')];
    expect(await say('What is the capital of France?')).toMatchObject({
      action: 'answer',
      speech: 'Paris.',
      conversationId: 'cnv_1',
      turnId: 'trn_1',
    });
    await say('And of Italy?');
    expect(turns.begun).toMatchObject([
      {
        conversationId: 'cnv_1',
        messages: [{ role: 'user', content: 'What is the capital of France?' }],
      },
      { conversationId: 'cnv_1' },
    ]);
    expect(ground.admitted).toBe(4);
  });

  test('of the grammar need no model to sort them', async () => {
    const { say, turns, ground } = open();
    await say('say hello there');
    expect(turns.begun).toMatchObject([{ messages: [{ content: 'hello there' }] }]);
    expect(ground.sortings).toBe(0);
  });

  test('long answers are cut behind a sentence', async () => {
    const { say, turns } = open();
    turns.scripts = [says('This is a sentence. '.repeat(500))];
    const { speech } = await say('talk');
    expect(speech.length).toBeLessThan(1_300);
    expect(speech).toMatch(/sentence\. There is more in the conversation\.$/);
  });

  test('that no model answers are said to fail, and only the grammar is left for a while', async () => {
    const { say, turns, voice, ground } = open();
    expect(voice.status).toBe('text-commands');
    turns.scripts = [[{ type: 'failed', code: 'unavailable', message: 'no provider answers' }]];
    expect(await say('why?')).toMatchObject({
      action: 'failed',
      speech: 'No answer came: no provider answers.',
    });
    expect(voice.status).toBe('degraded');
    turns.scripts = [new Fault('unavailable', 'gateway cannot be reached'), says('Because.')];
    expect(await say('why?')).toMatchObject({ action: 'failed' });
    expect(ground.sortings).toBe(1);
    expect(await say('why?')).toMatchObject({ speech: 'Because.' });
    expect(voice.status).toBe('text-commands');
  });

  test('that take long are told as far as they are', async () => {
    const { say, turns } = open();
    turns.scripts = [
      [
        { type: 'begun', messageId: 'msg_1', model: 'm' },
        { type: 'delta', content: 'Once' },
      ],
    ];
    expect((await say('tell me a story')).speech).toBe(
      'The answer is still being written. So far: Once',
    );
  });

  test('wait for the one before', async () => {
    const { say, turns } = open();
    turns.scripts = [new Fault('conflict', 'busy', { reason: 'turn_in_progress' })];
    expect(await say('why?')).toMatchObject({ action: 'clarify' });
    turns.isRunning = true;
    expect(await say('stop')).toMatchObject({ action: 'stop', speech: 'I stopped it.' });
    expect(await say('stop')).toMatchObject({ speech: 'Nothing is being written.' });
  });

  test('begin anew when their conversation is gone', async () => {
    const { say, turns, conversations } = open();
    await say('hm?');
    conversations.all.splice(0);
    const gone = new Fault('not_found', 'gone', { reason: 'conversation_not_found' });
    turns.scripts = [gone, says('Again.')];
    expect(await say('hm?')).toMatchObject({ speech: 'Again.' });
  });

  test('too many are refused', async () => {
    const { say, turns } = open();
    turns.scripts = [new Fault('exhausted', 'too many')];
    expect(await say('why?')).toMatchObject({ action: 'refused' });
  });
});

describe('tools', () => {
  const tool = {
    id: 'files__read',
    connection: 'files',
    name: 'files__read',
    description: 'reads',
    parameters: {},
    isReadOnly: true,
  };

  test('are listed to those alone who may see the list', async () => {
    const { say, ground } = open();
    ground.tools.push(tool);
    const refused = await say('what tools are there');
    expect(refused.action).toBe('refused');
    expect(refused.speech).not.toContain('files__read');
    const told = await say('what tools are there', {}, toolUser);
    expect(told).toMatchObject({ action: 'list_tools', speech: 'There is 1 tool: files__read.' });
  });
});

describe('calls of tools', () => {
  const call = { id: 'call_1', name: 'files__write', arguments: '{"path":"a"}' };
  const asking: Happening[] = [
    { type: 'delta', content: 'Let me see.' },
    { type: 'tool-call', call, needsApproval: true },
  ];

  test.each([
    ['yes', true],
    ['no', false],
  ])('wait for a word, such as %s', async (word, isApproved) => {
    const { say, turns } = open();
    turns.scripts = [asking];
    const asked = await say('write it down');
    expect(asked).toMatchObject({ action: 'confirm_tool_call' });
    expect(asked.speech).toContain('files__write with “{"path":"a"}”');
    expect(turns.approvals).toEqual([]);
    const done = await say(word, {}, toolUser);
    expect(turns.approvals).toEqual([[{ callId: 'call_1', isApproved }]]);
    expect(done.speech).toBe('Done.');
  });

  test('are not approved by who may call none', async () => {
    const { say, turns } = open();
    turns.scripts = [asking];
    await say('write it down');
    expect(await say('yes')).toMatchObject({ action: 'refused' });
    expect(turns.approvals).toEqual([]);
  });

  test('are not approved by other words', async () => {
    const { say, turns } = open();
    turns.scripts = [asking];
    await say('write it down');
    await say('list my conversations');
    await say('yes');
    expect(turns.approvals).toEqual([]);
  });
});

describe('what only a model understands', () => {
  test('is done as what the model takes it for, deletions still after a yes', async () => {
    const { say, conversations, ground } = open();
    await conversations.create('usr_one', { title: 'Einkauf' });
    ground.sorted = { action: 'delete_conversation', name: 'Einkauf' };
    expect(await say('Lösche die Unterhaltung Einkauf')).toMatchObject({
      action: 'confirm_delete_conversation',
    });
    expect(conversations.all).toHaveLength(1);
  });
});
