import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { sendChat } from '../model/chat-events.ts'
import { type ChatMessage, orderComplaint, type Wire, wireOf } from '../model/strict-checks.ts'
import type { Random } from '../simulation/random.ts'

/** Of a model before it answers: long enough for inputs and kills to come in between. */
const THINK_MS = 60

/**
 * A provider on loopback with one model per agent. The answer follows from the request alone, so a repeated call gets the same one: some
 * commands, each with a line of its own to write, then a text that ends the turn. It refuses a prompt that no provider would take.
 */
export class StrictModel {
  readonly complaints: string[] = []
  /** The requests of each agent, in their order. */
  readonly #requests = new Map<string, Wire[]>()
  readonly #random: Random
  readonly #server: Server
  /** Where the commands of an agent write their lines. */
  readonly #effects: (agent: string) => string

  constructor(random: Random, effects: (agent: string) => string) {
    this.#random = random
    this.#effects = effects
    this.#server = createServer((incoming, response) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', async () => {
        const body = Buffer.concat(chunks).toString('utf8')
        const { model, messages } = JSON.parse(body) as { model: string; messages: readonly ChatMessage[] }
        this.#note(model, body, messages)
        await pause(this.#random.between(0, THINK_MS))
        sendChat(response, this.#answer(model, messages))
      })
    })
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  get requests(): number {
    return [...this.#requests.values()].reduce((sum, { length }) => sum + length, 0)
  }

  requestsOf(agent: string): readonly Wire[] {
    return this.#requests.get(agent) ?? []
  }

  #note(agent: string, body: string, messages: readonly ChatMessage[]): void {
    const complaint = orderComplaint(messages)
    if (complaint !== undefined) this.complaints.push(`${agent}: ${complaint}`)
    const before = this.#requests.get(agent) ?? []
    before.push(wireOf(body))
    this.#requests.set(agent, before)
  }

  /** Two commands at once, a read, one command, and a text; then again. */
  #answer(agent: string, messages: readonly ChatMessage[]): Parameters<typeof sendChat>[1] {
    const place = messages.filter(({ role }) => role === 'assistant').length
    // An id that no other answer has, also after a roll-back.
    const key = `${place}-${messages.length}`
    const command = (index: number) => {
      const line = `echo ${key}.${index} >> ${this.#effects(agent)}`
      return { id: `c-${key}.${index}`, name: 'run_command', text: JSON.stringify({ command: line }) }
    }
    switch (place % 4) {
      case 0:
        return { text: ['Two ', 'commands.'], calls: [command(0), command(1)] }
      case 1:
        return { calls: [{ id: `c-${key}.0`, name: 'list_files', text: '{}' }, command(1)] }
      case 2:
        return { text: ['One.'], calls: [command(0)] }
      default:
        return { text: ['Done ', `${key}.`] }
    }
  }
}
