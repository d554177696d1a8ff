import type { AgentAnswer, AgentRequest } from '../../../src/core/agent/request.ts'
import { RefusedError } from '../../../src/core/errors.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { Actor } from '../../../src/core/process/record.ts'
import type { Kernel } from '../../../src/kernel/kernel.ts'
import { same } from '../ledger.ts'
import type { Stage } from '../stage.ts'
import { LAWS } from './laws.ts'
import type { SessionLaws } from './session-laws.ts'

/** A request of a client, which may be sent again. */
export interface ClientRequest {
  readonly pid: Pid
  readonly actor: Actor
  readonly request: Exclude<AgentRequest, { type: 'exceed_limit' | 'note_memory' }>
  /** The first answer that a client got. */
  answer?: AgentAnswer
}

const MAX_REMEMBERED = 40

/** The clients of agents: they remember their requests, repeat them at any kernel, and compare the answers. */
export class AgentClients {
  readonly #stage: Stage
  readonly #laws: SessionLaws
  readonly #requests: ClientRequest[] = []
  #ids = 0

  constructor(stage: Stage, laws: SessionLaws) {
    this.#stage = stage
    this.#laws = laws
  }

  newId(): string {
    this.#ids += 1
    return `i${this.#ids}`
  }

  /** An earlier request, more often one that has no answer. */
  earlier(): ClientRequest | undefined {
    const { random } = this.#stage
    const open = this.#requests.filter(({ answer }) => answer === undefined)
    const from = open.length > 0 && random.chance(0.7) ? open : this.#requests
    return from.length === 0 ? undefined : random.pick(from)
  }

  /** Sends the request to a kernel. After an answer, every repetition gets the same one. */
  async send(kernel: Kernel, asked: ClientRequest): Promise<AgentAnswer> {
    const { pid, request, answer: known } = asked
    if (!this.#requests.includes(asked)) this.#requests.push(asked)
    if (this.#requests.length > MAX_REMEMBERED) this.#requests.shift()
    const broke = (what: string) =>
      this.#stage.violated(
        LAWS.answers,
        `${pid}, ${request.type} ${request.id} was ${known?.type}, and is ${what}`,
      )
    try {
      const answer = await sent(kernel, asked)
      this.#laws.acknowledged(pid, request, answer)
      if (known !== undefined && !same(known, answer)) broke(answer.type)
      asked.answer ??= answer
      return answer
    } catch (error) {
      if (known !== undefined && error instanceof RefusedError && error.code !== 'unknown_pid')
        broke(error.code)
      throw error
    }
  }
}

function sent(kernel: Kernel, { pid, actor, request }: ClientRequest): Promise<AgentAnswer> {
  if (request.type === 'allow') return kernel.agents.allow(pid, actor, request)
  return kernel.agents.request(pid, actor, request)
}
