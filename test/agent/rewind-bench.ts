import type { Embedded } from 'reeve'
import { type HeldCall, HeldModel } from './held-model.ts'
import { scriptedAgents } from './scripted-agent.ts'

/** An agent whose turns a test plays: an input, the calls of tools in their order, and an answer. */
export async function rewindBench(options: Parameters<typeof scriptedAgents>[0] = {}) {
  const model = new HeldModel()
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': model }, ...options })
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'coder', model: 'my/model' },
  })
  return { reeve, workspace, model, pid: record.pid, session: new PlayedSession(reeve, model, record.pid) }
}

type Call = readonly [tool: string, input: object]

export class PlayedSession {
  readonly #reeve: Embedded
  readonly #model: HeldModel
  readonly pid: string

  constructor(reeve: Embedded, model: HeldModel, pid: string) {
    this.#reeve = reeve
    this.#model = model
    this.pid = pid
  }

  /** One turn. Returns the prompts of its model calls. */
  async turn(text: string, calls: readonly Call[] = []): Promise<readonly string[]> {
    const { pid } = this
    const answer = await this.#reeve.runAgent({ pid, text })
    if (answer.type !== 'started') throw new Error(`The input of a turn was ${answer.type}`)
    const prompts: string[] = []
    const next = async (): Promise<HeldCall> => {
      const call = await this.#model.next()
      prompts.push(call.prompt)
      return call
    }
    for (const [tool, input] of calls) (await next()).call(tool, input)
    ;(await next()).answer(`answer to ${text}`)
    await this.#reeve.waitAgent({ pid, turn: answer.turn })
    return prompts
  }

  async compact(summary: string): Promise<void> {
    const { turn } = await this.#reeve.compactAgent({ pid: this.pid })
    ;(await this.#model.next()).answer(summary)
    await this.#reeve.waitAgent({ pid: this.pid, turn })
  }

  /** Rewinds, and waits until the files are put back. Returns what has become of them. */
  async undo(to: { turn: number } | { branch: string }) {
    const { turn } = await this.#reeve.rewindAgent({ pid: this.pid, ...to, undoFiles: true })
    const ended = await this.#reeve.waitAgent({ pid: this.pid, turn: turn ?? 0 })
    if (ended.type !== 'turn_ended') throw new Error(`The undo was ${ended.type}`)
    return ended.turn.result as { files: { path: string; fate: string }[]; restored: number; removed: number }
  }
}
