import { type FileReference, type InputPart, referenceParts } from '../core/agent/input-part.ts'
import { invalidRequest } from '../core/agent/refusals.ts'
import { type AgentRequest, requestKey } from '../core/agent/request.ts'
import type { Part } from '../core/agent/state.ts'
import { RefusedError } from '../core/errors.ts'
import { sameJson } from '../core/json/canonical.ts'
import { asJson, objectOf } from '../core/json/json.ts'
import { refuseParts } from '../core/model/facts.ts'
import type { UserPart } from '../core/model/prompt.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import { type ActionParts, readerFor } from './action.ts'
import { modelFacts, modelOf } from './agent-facts.ts'
import { checkJson } from './parse.ts'

export interface Content {
  readonly text?: string | undefined
  readonly parts?: readonly InputPart[] | undefined
}

/** A request as far as its replay key needs it. */
type Asked = Pick<AgentRequest, 'type' | 'id'>

/**
 * The parts of an input as they are admitted. Files that it refers to are read here, secrets are masked, and what the model cannot take
 * is refused: before the turn, and before anything is stored.
 */
export async function admittedParts(
  actionParts: ActionParts,
  pid: Pid,
  asked: Asked,
  { text, parts = [{ type: 'text', text: text ?? '' }] }: Content,
): Promise<readonly Part[]> {
  checkJson(parts.map(asJson), 'parts')
  const { masker } = actionParts
  const plain = (part: InputPart): Part =>
    part.type === 'text' || part.type === 'paste' ? { ...part, text: masker.text(part.text) } : { ...part }
  if (parts.every(({ type }) => type === 'text' || type === 'paste')) return parts.map(plain)
  const agent = await readerFor(actionParts, 'agent_request')(pid)
  const references = new References(actionParts, agent, asked)
  const admitted: Part[] = []
  const taken: UserPart[] = []
  for (const part of parts) {
    if (part.type === 'command') throw new RefusedError(unknownCommand(agent, part.name))
    if (part.type === 'reference') {
      const { stored, content } = await references.resolve(part)
      admitted.push(...stored)
      if (content !== null) taken.push(content)
    } else {
      admitted.push(plain(part))
      if (part.type !== 'paste') taken.push(part)
    }
  }
  refuseUnfit(actionParts, agent, taken)
  return admitted
}

/** Resolves the references of one request. A repeated request gets the content of the first one, even if files have changed since. */
class References {
  readonly #actionParts: ActionParts
  readonly #agent: ProcessRecord
  readonly #asked: Asked
  #earlier: Promise<readonly Part[]> | null = null
  #count = 0

  constructor(actionParts: ActionParts, agent: ProcessRecord, asked: Asked) {
    this.#actionParts = actionParts
    this.#agent = agent
    this.#asked = asked
  }

  /** `content`: null if it was admitted before, and so need not be judged. */
  async resolve(
    reference: FileReference,
  ): Promise<{ readonly stored: readonly Part[]; readonly content: UserPart | null }> {
    const before = await this.#before(reference)
    if (before !== null) return { stored: before, content: null }
    const { agents, masker } = this.#actionParts
    if (agents === undefined)
      throw new RefusedError(
        invalidRequest(this.#agent, 'this program drives no agents', 'Send the text of the file as a paste.'),
      )
    const file = await agents.readReference(this.#agent, reference)
    const { content: given } = file
    const content = given.type === 'text' ? { ...given, text: masker.text(given.text) } : given
    return { stored: referenceParts(reference, { ...file, content }), content }
  }

  /** The parts of the same reference in the same request, if it was admitted before. */
  async #before({ type: _, ...given }: FileReference): Promise<readonly Part[] | null> {
    this.#earlier ??= this.#admitted()
    const parts = await this.#earlier
    const places = parts.flatMap((part, index) => (part.type === 'reference' ? [index] : []))
    const place = places[this.#count]
    this.#count += 1
    if (place === undefined) return null
    const found = parts.slice(place, place + 2)
    return sameJson(found[0]?.['given'] ?? null, asJson(given)) ? found : null
  }

  async #admitted(): Promise<readonly Part[]> {
    const { store } = this.#actionParts.kernel.edges
    const replayKey = requestKey(this.#asked)
    const event = await store.ask({ ask: 'event', pid: this.#agent.pid, replayKey })
    const { parts } = objectOf(event?.payload)
    return Array.isArray(parts) ? (parts as readonly Part[]) : []
  }
}

function refuseUnfit({ agents }: ActionParts, agent: ProcessRecord, parts: readonly UserPart[]): void {
  const model = modelOf(agent)
  if (agent.agent === null) return
  const refused = refuseParts(model, modelFacts(model, agents), parts)
  if (refused === undefined) return
  throw new RefusedError(
    refusal('invalid_request', `${agent.pid}: ${refused.message}`, refused.remedy, { problem: refused.code }),
  )
}

function unknownCommand(agent: ProcessRecord, name: string) {
  const refused = invalidRequest(
    agent,
    `there is no command /${name}`,
    'Send the text itself; this agent has no slash commands.',
  )
  return { ...refused, details: { problem: 'unknown_command', command: name } }
}
