/** Who owns the agents of the benchmark. */
export const ownerId = 'usr_bench';

/** An agent that does its tasks in the mesh's own process. */
export const echoAgent = 'echo';

/** What every agent of the benchmark answers. */
export const taskResult = { summary: 'The text says what it says.', words: 6 };

/** The task that agents are given. */
export const task = { type: 'summarise', input: { text: 'What it says.' } };
