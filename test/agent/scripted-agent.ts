import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EmbedOptions } from 'reeve'
import { asJson, type Json, type JsonObject, objectOf } from '../../src/core/json/json.ts'
import type { Embedded } from '../../src/embed/embed.ts'
import { embedTemp } from '../embed-temp.ts'
import { tempFolder } from '../temp-folder.ts'

/** A Reeve whose agents play scripts, in a workspace of its own. */
export async function scriptedAgents(options: Partial<EmbedOptions> = {}) {
  const workspace = tempFolder()
  const reeve = await embedTemp(options)
  let count = 0
  return {
    reeve,
    workspace,
    /** Starts an agent that plays these answers; with `replies` and `atEnd` as a script has them. */
    async start(script: Json, spec: JsonObject = {}, more: object = {}): Promise<string> {
      count += 1
      const name = `script-${count}.json`
      const whole = Array.isArray(script) ? { answers: script } : script
      writeFileSync(join(workspace, name), JSON.stringify(whole))
      const { record } = await reeve.spawn({
        kind: 'agent',
        cwd: workspace,
        spec: { agent: 'helper', model: `scripted/${name}`, ...spec },
        ...more,
      })
      return record.pid
    },
  }
}

/** The payloads of the events of one type. */
export async function payloads(reeve: Embedded, pid: string, type: string): Promise<readonly JsonObject[]> {
  const { events } = await reeve.events({ pid, limit: 1_000 })
  return events.filter((event) => event.type === type).map(({ payload }) => objectOf(asJson(payload)))
}

export async function eventTypes(reeve: Embedded, pid: string): Promise<readonly string[]> {
  const { events } = await reeve.events({ pid, limit: 1_000 })
  return events.map(({ type }) => type)
}
