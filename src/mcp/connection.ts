import { randomUUID } from 'node:crypto'
import type { InputOf, ReeveVerbs } from '../verbs/reeve.ts'
import { folderUnknown } from './requested-folder.ts'
import type { ClientSession, McpSession } from './session.ts'
import { ShownEnds } from './shown-ends.ts'

/** One connection of a client. Several may share a session; each has its own read positions. */
export interface Connection {
  /** Null over HTTP in the modern era, where requests of two instances of a client cannot be told apart. */
  readonly reader: Reader | null
  /** The client's environment, if its commands inherit it. */
  readonly environment: ClientEnvironment | null
}

export type Reader = NonNullable<InputOf<'poll'>['reader']>

export interface ClientEnvironment {
  /** Its variables, without secrets. */
  readonly base: InputOf<'putEnvironment'>
  /** All variables: `passEnv` of a command is looked up here. */
  readonly variables: Readonly<Record<string, string | undefined>>
}

/** A session as seen by one connection. */
export class ConnectedSession implements ClientSession {
  readonly #session: McpSession
  readonly #connection: Connection
  readonly #shownEnds = new ShownEnds()
  #turn: string = randomUUID()

  constructor(session: McpSession, connection: Connection) {
    this.#session = session
    this.#connection = connection
  }

  get id() {
    return this.#session.id
  }

  get tasks() {
    return this.#session.tasks
  }

  get scanned() {
    return this.#session.scanned
  }

  get dismissed() {
    return this.#session.dismissed
  }

  get previous() {
    return this.#session.previous
  }

  get shownEnds() {
    return this.#connection.reader === null ? this.#session.shownEnds : this.#shownEnds
  }

  get turn() {
    return this.#connection.reader === null ? this.#session.turn : this.#turn
  }

  endTurn(): void {
    if (this.#connection.reader === null) this.#session.endTurn()
    else this.#turn = randomUUID()
  }

  async acting(): Promise<ReeveVerbs> {
    return connected(await this.#session.acting(), this.#connection)
  }

  watching(): Promise<ReeveVerbs> {
    return this.#session.watching()
  }

  feed() {
    return this.#session.feed()
  }

  change<Answer>(act: (acting: ReeveVerbs, session: string) => Promise<Answer>): Promise<Answer> {
    return this.#session.change((acting, session) => act(connected(acting, this.#connection), session))
  }

  touch(): Promise<void> {
    return this.#session.touch()
  }
}

/** The same verbs: reads go on where this connection stopped, and commands start in the client's environment. */
function connected(acting: ReeveVerbs, { reader, environment }: Connection): ReeveVerbs {
  const reading = reader === null ? {} : { reader }
  return {
    ...acting,
    poll: (input, options) => acting.poll({ ...reading, ...input }, options),
    wait: (input, options) => acting.wait({ ...reading, ...input }, options),
    log: (input, options) => acting.log({ ...reading, ...input }, options),
    notices: (input, options) => acting.notices({ ...reading, ...input }, options),
    acknowledge: (input, options) => acting.acknowledge({ ...reading, ...input }, options),
    async spawn(input, options) {
      if (input.kind !== 'command') return acting.spawn(input, options)
      if (input.cwd === undefined) throw folderUnknown('The folder of the command is unknown')
      if (environment === null) return acting.spawn(input, options)
      const { envRef } = await acting.putEnvironment(environment.base)
      const { passEnv = [] } = input.spec
      const secrets = Object.fromEntries(
        passEnv.flatMap((name) => {
          const value = environment.variables[name]
          return value === undefined ? [] : [[name, value]]
        }),
      )
      const passed = Object.keys(secrets).length === 0 ? {} : { secrets }
      return acting.spawn({ baseEnvRef: envRef, ...passed, ...input }, options)
    },
  }
}
