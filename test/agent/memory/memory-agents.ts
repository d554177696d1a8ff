import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Embedded, EmbedOptions } from 'reeve'
import { onTestFinished } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { embedTemp } from '../../embed-temp.ts'
import { tempFolder, tempStore } from '../../temp-folder.ts'
import { HeldModel } from '../held-model.ts'

type Open = (options: EmbedOptions) => Promise<Embedded>

/** A Reeve whose agents have long-term memory. The models of the agent and of its memory wait for the test. */
export async function memoryAgents({
  open,
  ...options
}: Partial<EmbedOptions> & { readonly open?: Open } = {}) {
  const workspace = tempFolder()
  const [model, keeper] = [new HeldModel(), new HeldModel()]
  const given = { models: { 'test/agent': model, 'test/memory': keeper }, ...options }
  const reeve = open === undefined ? await embedTemp(given) : await open({ store: tempStore(), ...given })
  if (open !== undefined) onTestFinished(() => reeve.close())
  /** The jobs of an agent, the oldest first. */
  const jobs = async (pid: string) => {
    const { processes } = await reeve.list({ filter: { parent: [pid], kind: ['workflow'], status: 'any' } })
    return processes.map(({ record }) => record)
  }
  return {
    reeve,
    workspace,
    /** The model of the agent. */
    model,
    /** The model of its memory. */
    keeper,
    jobs,
    /** Waits until the agent is idle, and its job has begun. */
    idle: (pid: string) => idle(reeve, pid),
    /** The last job of the agent, as it ended. */
    async lastJob(pid: string) {
      await idle(reeve, pid)
      const last = (await jobs(pid)).at(-1)
      const waited = await reeve.wait({ pid: last?.pid ?? 'none' })
      if (waited.type !== 'ended') throw new Error(`The job of ${pid} did not end: ${waited.type}`)
      return waited.record
    },
    /** Answers the two calls of a job. Returns them. */
    async keep(notes: readonly string[], changes: Readonly<Record<string, string | null>>) {
      const extract = await keeper.next()
      extract.answer(JSON.stringify(notes))
      if (notes.length === 0) return { extract, consolidate: null }
      const consolidate = await keeper.next()
      consolidate.answer(changesOf(changes))
      return { extract, consolidate }
    },
    /** Writes files into the workspace. */
    write(files: Readonly<Record<string, string>>): void {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(workspace, path)), { recursive: true })
        writeFileSync(join(workspace, path), text)
      }
    },
    async start(spec: JsonObject = {}, more: object = {}): Promise<string> {
      const given = { agent: 'helper', model: 'test/agent', memory: { model: 'test/memory' }, ...spec }
      const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec: given, ...more })
      return record.pid
    },
  }
}

/** Waits until the agent has become idle after its last turn: its job has begun then. */
async function idle(reeve: Embedded, pid: string): Promise<void> {
  for await (const _ of reeve.follow({ after: 0, filter: { pid: [pid] } })) {
    const record = await reeve.show({ pid })
    if (record.status === 'waiting' && record.parked) return
  }
}

/** The answer of a model that wants these changes. */
export function changesOf(changes: Readonly<Record<string, string | null>>): string {
  return JSON.stringify({
    changes: Object.entries(changes).map(([path, content]) => ({ path, content })),
  })
}
