import { didYouMean } from '../base/nearest-name.ts'
import {
  type CommandPart,
  commandParts,
  type FileReference,
  type InputPart,
  partCountOf,
  referenceParts,
} from '../core/agent/input-part.ts'
import { invalidRequest } from '../core/agent/refusals.ts'
import { type AgentRequest, requestKey } from '../core/agent/request.ts'
import type { Part } from '../core/agent/state.ts'
import { RefusedError } from '../core/errors.ts'
import { sameJson } from '../core/json/canonical.ts'
import { asJson, type JsonObject, objectOf } from '../core/json/json.ts'
import { refuseParts } from '../core/model/facts.ts'
import type { UserPart } from '../core/model/prompt.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { type ActionParts, readerFor } from './action.ts'
import { type AgentCommand, modelFacts, modelOf } from './agent-facts.ts'
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
  const earlier = new EarlierParts(actionParts, agent, asked)
  const references = new References(actionParts, agent, earlier)
  const admitted: Part[] = []
  const taken: UserPart[] = []
  for (const part of parts) {
    if (part.type === 'command') {
      const { stored, content } = await resolveCommand(actionParts, agent, part, earlier)
      admitted.push(...stored)
      taken.push(...content)
    } else if (part.type === 'reference') {
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

/** The admitted parts of the same request, if it was admitted before: it gets the same content, even if files or servers have changed since. */
class EarlierParts {
  readonly #actionParts: ActionParts
  readonly #agent: ProcessRecord
  readonly #asked: Asked
  readonly #counts = new Map<string, number>()
  #parts: Promise<readonly Part[]> | null = null

  constructor(actionParts: ActionParts, agent: ProcessRecord, asked: Asked) {
    this.#actionParts = actionParts
    this.#agent = agent
    this.#asked = asked
  }

  /** The next part of this type, with the parts behind it; null if it was given something else, or nothing. */
  async next(type: 'reference' | 'command', given: JsonObject): Promise<readonly Part[] | null> {
    this.#parts ??= this.#read()
    const parts = await this.#parts
    const places = parts.flatMap((part, index) => (part.type === type ? [index] : []))
    const count = this.#counts.get(type) ?? 0
    this.#counts.set(type, count + 1)
    const place = places[count]
    if (place === undefined) return null
    const found = parts.slice(place)
    return sameJson(found[0]?.['given'] ?? null, given) ? found : null
  }

  async #read(): Promise<readonly Part[]> {
    const { store } = this.#actionParts.kernel.edges
    const replayKey = requestKey(this.#asked)
    const event = await store.ask({ ask: 'event', pid: this.#agent.pid, replayKey })
    const { parts } = objectOf(event?.payload)
    return Array.isArray(parts) ? (parts as readonly Part[]) : []
  }
}

/** Resolves the references of one request. */
class References {
  readonly #actionParts: ActionParts
  readonly #agent: ProcessRecord
  readonly #earlier: EarlierParts

  constructor(actionParts: ActionParts, agent: ProcessRecord, earlier: EarlierParts) {
    this.#actionParts = actionParts
    this.#agent = agent
    this.#earlier = earlier
  }

  /** `content`: null if it was admitted before, and so need not be judged. */
  async resolve(
    reference: FileReference,
  ): Promise<{ readonly stored: readonly Part[]; readonly content: UserPart | null }> {
    const { type: _, ...given } = reference
    const before = await this.#earlier.next('reference', given)
    if (before !== null) return { stored: before.slice(0, 2), content: null }
    const { agents, masker } = this.#actionParts
    if (agents === undefined)
      throw new RefusedError(
        invalidRequest(this.#agent, 'this program drives no agents', 'Send the text of the file as a paste.'),
      )
    const file = await agents.readReference(this.#agent, reference)
    const content = masked(file.content, masker)
    return { stored: referenceParts(reference, { ...file, content }), content }
  }
}

/** The admitted parts of a slash command. `content`: empty if it was admitted before, and so need not be judged. */
async function resolveCommand(
  { agents, masker }: ActionParts,
  agent: ProcessRecord,
  command: CommandPart,
  earlier: EarlierParts,
): Promise<{ readonly stored: readonly Part[]; readonly content: readonly UserPart[] }> {
  const { type: _, ...given } = { ...command, ...maskedArguments(command, masker) }
  const before = await earlier.next('command', given)
  if (before !== null) return { stored: before.slice(0, 1 + partCountOf(before[0])), content: [] }
  const commands = (await agents?.commandsOf(agent)) ?? []
  const found = commands.find(({ name }) => name === command.name)
  if (found === undefined) throw new RefusedError(unknownCommand(agent, command.name, commands))
  const content = (await found.resolve(command.arguments ?? '')).map((part) => masked(part, masker))
  return { stored: commandParts(given, content), content }
}

function maskedArguments({ arguments: text }: CommandPart, masker: ActionParts['masker']) {
  return text === undefined ? {} : { arguments: masker.text(text) }
}

function masked(part: UserPart, masker: ActionParts['masker']): UserPart {
  return part.type === 'text' ? { ...part, text: masker.text(part.text) } : part
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

function unknownCommand(
  agent: ProcessRecord,
  name: string,
  commands: readonly Pick<AgentCommand, 'name' | 'isInert'>[],
): Refusal {
  const names = commands.filter(({ isInert }) => !isInert).map((command) => command.name)
  const known = names.length === 0 ? 'this agent has no slash commands' : `it has /${names.join(', /')}`
  const refused = invalidRequest(
    agent,
    `there is no command /${name}`,
    `Send the text itself;${didYouMean(name, names)} ${known}.`,
  )
  return { ...refused, details: { problem: 'unknown_command', command: name } }
}
