/** The answer of a model: a call of one tool, or a text that ends its turn. */
export type Turn =
  | {
      readonly type: 'call'
      readonly id: string
      readonly tool: string
      readonly input: object
      /** Whose tool it is: clients rename those of a server. */
      readonly of: 'reeve' | 'client'
    }
  | { readonly type: 'text'; readonly text: string }

/** A tool as a client describes it to the model. */
export interface OfferedTool {
  /** The name without the prefix or namespace that the client adds. */
  readonly name: string
  /** The whole description of the tool, as the client sends it. */
  readonly json: string
}

/** A request of a client to its model API. */
export interface ModelRequest {
  /** False for side jobs, such as a title for the conversation: those offer no tools of any server. */
  readonly hasTools: boolean
  /** Only Reeve's tools. */
  readonly tools: readonly OfferedTool[]
  /** The result of each tool call in the conversation, by the call's id. */
  readonly results: ReadonlyMap<string, string>
}

/** The protocol of a model API. */
export interface Wire {
  /** Null for a request that asks for no turn of the model, such as a count of tokens. */
  read(path: string, body: unknown): ModelRequest | null
  /** Server-sent events. */
  write(turn: Turn): string
}

export function event(data: object, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
}
