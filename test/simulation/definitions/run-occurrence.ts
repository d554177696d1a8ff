import type { Json } from '../../../src/core/json/json.ts'
import { objectOf } from '../../../src/core/json/json.ts'
import type { ToolContext } from '../../../src/verbs/tool-function.ts'
import type { ScriptHost } from '../script.ts'

/** The process of a schedule or a trigger: it works for a while, and may fail or kill its kernel. */
export async function runOccurrence({ input, sleep, append }: ToolContext, host: ScriptHost): Promise<Json> {
  const { stage } = host
  const { ms, turns, fails } = objectOf(input as Json)
  for (let turn = 0; turn < Number(turns ?? 0); turn++) {
    await host.turn()
    await append('note', `turn ${turn}`, { replayKey: `turn:${turn}` })
  }
  if (Number(ms ?? 0) > 0) await sleep(Number(ms))
  if (stage.faulty && stage.random.chance(0.03)) {
    stage.counts.fault('an occurrence kills its kernel')
    host.die('by an occurrence')
    return new Promise(() => {})
  }
  if (stage.random.chance(Number(fails ?? 0))) throw new Error('The occurrence failed')
  return 'done'
}
