/** What decides where a question goes. */
export interface RoutingWish {
  readonly question: string;
  readonly model: string;
  readonly strategy: 'cost' | 'performance' | 'quality';
  readonly hasTools: boolean;
  readonly wantsJson: boolean;
}

/** The wish as the chat completion that it stands for. */
export function toCompletion(wish: RoutingWish): Readonly<Record<string, unknown>> {
  const { question, model, strategy, hasTools, wantsJson } = wish;
  return {
    messages: [{ role: 'user', content: question }],
    routing_strategy: strategy,
    ...(model === '' ? {} : { model }),
    ...(hasTools ? { tools: [anyTool] } : {}),
    ...(wantsJson ? { response_format: { type: 'json_object' } } : {}),
  };
}

const anyTool = {
  type: 'function',
  function: { name: 'look_up', parameters: { type: 'object', properties: {} } },
};
