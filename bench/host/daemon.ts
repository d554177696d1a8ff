/**
 * A daemon for the measurements that kill one, or weigh one: `node daemon.mjs <folder>` embeds Reeve in that folder and
 * performs the verbs that its parent asks for.
 */
import { join } from 'node:path'
import { embed } from './built-reeve.ts'
import type { Asked, Heard } from './start-daemon.ts'

const [folder = ''] = process.argv.slice(2)
const begun = performance.now()
const reeve = await embed({ store: join(folder, 'reeve.db'), commands: { home: join(folder, 'home') } })
const embedMs = performance.now() - begun
const { keeper, boot } = await reeve.status()

// Without its parent it has no purpose, and exits as a killed daemon would.
process.on('disconnect', () => process.exit(1))
process.on('message', (asked) => void answer(asked as Asked))
tell({ ready: { embedMs, keeperPid: keeper?.osPid ?? 0, adopted: boot.adopted.length } })

async function answer({ id, verb, input }: Asked): Promise<void> {
  try {
    const perform = reeve[verb] as (input: unknown) => Promise<unknown>
    tell({ id, answer: await perform(input) })
  } catch (error) {
    tell({ id, error: error instanceof Error ? error.message : String(error) })
  }
}

function tell(heard: Heard): void {
  process.send?.(heard)
}
