/**
 * Chat's GraphQL schema (GraphQL specification, October 2021). What the suite's interface names stands
 * here to the letter; all else is only added.
 */
export const chatSchemaText = `"An instant, as ISO 8601 in UTC."
scalar DateTime @specifiedBy(url: "https://scalars.graphql.org/andimarek/date-time.html")

"Any JSON value."
scalar JSON @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc8259")

"What can be asked. Everybody sees their own conversations only."
type Query {
  "Your conversations, the ones that were used last first."
  conversations(
    "How many, 1 to 100."
    limit: Int = 20
    "How many to leave out at the beginning."
    offset: Int = 0
  ): [Conversation!]!
  "One of your conversations. The error CONVERSATION_NOT_FOUND for an id that is none, or another's."
  conversation(id: ID!): Conversation!
  "The conversations whose messages fit best, the best first: by their words and by their meaning."
  searchConversations(
    "What to look for, in plain words."
    query: String!
    "How many messages to find at most, 1 to 100."
    limit: Int = 10
    "From 0 to 1: leaves out what fits less."
    minScore: Float
  ): [SearchHit!]!
  "How an agent of the mesh is. The error AGENT_NOT_FOUND for one that the mesh does not know."
  agentHealth("Its id on the mesh." agentId: ID!): AgentHealth!
  "What became of a task that you gave to several agents."
  orchestration(id: ID!): Orchestration!
}

"What can be done."
type Mutation {
  """
  Asks a model. Without \`stream\` it answers when the model has: with the message of the answer, or with
  the one whose calls of tools wait for your approval. With \`stream\` it answers at once with the pending
  message, whose text comes by \`messageStream\`. Who hangs up ends nothing: see \`stop\`.
  """
  sendMessage(input: MessageInput!): Message!
  "Starts a conversation. Without a title its first message names it."
  createConversation(
    title: String
    "What answers where a message names none."
    model: String
  ): Conversation!
  "Gives a conversation another title."
  renameConversation(id: ID!, title: String!): Conversation!
  "Deletes a conversation with all its messages; an answer that is being written is stopped."
  deleteConversation(id: ID!): Boolean!
  "Ends the answer that is being written; what there is of it stays. False when nothing ran."
  stop(conversationId: ID!): Boolean!
  "Gives a task to several agents. Needs the permission agent:execute or mesh:communicate."
  orchestrate(input: OrchestrationInput!): Orchestration!
}

"What is told as it happens."
type Subscription {
  """
  The answers of a conversation, token by token, until you unsubscribe. One that is being written comes
  from its beginning, or from behind the token that \`after\` names.
  """
  messageStream(
    conversationId: ID!
    "The \`cursor\` of the last token that you have."
    after: String
  ): StreamToken!
  "How an agent gets on with its tasks: yours, and those that nobody in particular gave it."
  agentProgress("Its id on the mesh." agentId: ID!): AgentProgress!
}

"A conversation with a model."
type Conversation {
  id: ID!
  title: String!
  createdAt: DateTime!
  "When it was last written to, or changed."
  updatedAt: DateTime!
  messageCount: Int!
  "In their order."
  messages(
    "How many, 1 to 1,000."
    limit: Int = 100
    "Leaves out the messages up to this place."
    after: Int = 0
  ): [Message!]!
  "What answers where a message names none; null leaves it to the gateway."
  model: String
  "Tokens of all its answers."
  totalTokens: Float!
  "US dollars of all its answers."
  cost: Float!
}

"Who speaks."
enum Role {
  system
  user
  assistant
  tool
}

"How far a message is."
enum MessageStatus {
  complete
  "Its answer is still being written."
  pending
  "By its user; the text is what there was until then."
  stopped
  "By a failure; the text is what there was until then."
  interrupted
}

"A message of a conversation."
type Message {
  id: ID!
  role: Role!
  content: String!
  "Which model wrote it; null of what no model wrote."
  model: String
  "When it was stored."
  timestamp: DateTime!
  "What it cost; null of what no model wrote, and where its provider did not say."
  usage: Usage
  conversationId: ID!
  "Its number in the conversation, from 1, without gaps."
  place: Int!
  status: MessageStatus!
  "The calls of tools that the model asks for."
  toolCalls: [ToolCall!]!
  "Of a tool's result: the call that it answers."
  toolCallId: ID
}

"Tokens, as the model's provider counted them."
type Usage {
  promptTokens: Int!
  completionTokens: Int!
  totalTokens: Int!
  "US dollars; null where the price is not known."
  cost: Float
}

"A call of a tool that a model asks for."
type ToolCall {
  "The model's own id of the call."
  id: ID!
  name: String!
  "JSON, as the model wrote it."
  arguments: String!
}

"A conversation in which something was found."
type SearchHit {
  "The conversation's."
  id: ID!
  "The conversation's."
  title: String!
  "From 0 to 1: that of the message that fits best."
  relevanceScore: Float!
  "The messages that fit, the best first."
  messages: [Message!]!
}

"How an agent is, as the mesh and the tracer measured it; 0 where nobody did."
type AgentHealth {
  status: String!
  "Seconds."
  uptime: Float!
  requestCount: Int!
  "From 0 to 1."
  errorRate: Float!
  metrics: AgentMetrics!
}

"What was measured of an agent; 0 where nobody did."
type AgentMetrics {
  "Milliseconds."
  latency: Float!
  "Tasks a minute."
  throughput: Float!
  "Tokens."
  tokenUsage: Float!
}

"A message to send."
input MessageInput {
  "Where it belongs; without it a conversation is started."
  conversationId: ID
  content: String!
  "Which model is to answer; the conversation's, else the gateway's choice, when absent."
  model: String
  "Answers at once, with the pending message."
  stream: Boolean = false
  """
  Printable ASCII, at most 255 characters. The same input with the same key is one question, for an hour after the
  end of its answer; one that failed is asked again.
  """
  idempotencyKey: String
}

"A piece of an answer."
type StreamToken {
  "The message's."
  id: ID!
  "Never what came before; empty where something else is told."
  token: String!
  "Nothing more comes of this answer."
  finished: Boolean!
  model: String!
  "Names this place, to go on behind it after a lost connection."
  cursor: String!
  "Of a finished one: stop, length or content_filter; null where it failed."
  finishReason: String
  "Why the answer failed."
  error: Failure
  "A call of a tool that the model asks for."
  toolCall: StreamToolCall
}

"Why something failed."
type Failure {
  code: String!
  message: String!
}

"A call of a tool, as the model asks for it."
type StreamToolCall {
  "The model's own id of the call."
  id: ID!
  name: String!
  "JSON, as the model wrote it."
  arguments: String!
  "Whether it waits for your approval."
  needsApproval: Boolean!
}

"How an agent gets on with a task."
type AgentProgress {
  agentId: ID!
  taskId: ID!
  "From 0 to 1."
  progress: Float!
  "pending, running, completed, failed or cancelled."
  status: String!
  message: String!
}

"A task for several agents."
input OrchestrationInput {
  task: String!
  "Ids, names or capabilities of agents."
  agents: [String!]!
  "What they are to know."
  context: JSON
  "All at once, or one after the other with the results so far in the context."
  parallel: Boolean = true
  "Of the whole, in milliseconds."
  timeout: Int
}

"A task that was given to several agents."
type Orchestration {
  id: ID!
  task: String!
  "running, completed, partial, failed or cancelled."
  status: String!
  "From 0 to 1: the agents that are done."
  progress: Float!
  steps: [OrchestrationStep!]!
  createdAt: DateTime!
  endedAt: DateTime
}

"One agent's part of a task."
type OrchestrationStep {
  agentId: ID!
  name: String!
  "pending, running, completed, failed or cancelled."
  status: String!
  taskId: ID
  result: JSON
  error: Failure
}
`;
