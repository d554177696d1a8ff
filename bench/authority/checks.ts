import { embed } from '../../src/index.ts'
import { now, quantile } from '../clock.ts'
import type { Database } from '../durable/database.ts'
import { type Figure, figure, ratioAtMost } from '../figure.ts'
import { RULES_PER_SESSION, ruleSetOf, storeRuleSets } from './rules.ts'

const WARM_UP = 50

/**
 * A registration that is checked and denied, which writes no process: by a session with the same rules each time, while the other
 * sessions of the store have more and more.
 */
export async function* checks(
  database: Database,
  { capabilities, samples }: { readonly capabilities: readonly number[]; readonly samples: number },
): AsyncGenerator<Figure> {
  let least: number | undefined
  for (const count of capabilities) {
    const took = await checkedAmong(database, count, samples)
    least ??= took
    const compared = { ratio: took / least, against: `the same among ${capabilities[0]} rules` }
    yield figure(
      `check among ${count.toLocaleString('en-US')} rules: ${database.store}`,
      took,
      'ms',
      compared,
      ratioAtMost(1.2),
    )
  }
}

/** The median time of a check. */
async function checkedAmong(database: Database, count: number, samples: number): Promise<number> {
  const address = await database.fresh()
  const store = await database.open(address)
  const own = Math.min(10, count)
  const others = Array.from({ length: Math.ceil((count - own) / RULES_PER_SESSION) }, (_, index) =>
    ruleSetOf(`session:other-${index}`, Math.min(RULES_PER_SESSION, count - own - index * RULES_PER_SESSION)),
  )
  await storeRuleSets(store, [ruleSetOf('session:s1', own), ...others])
  await store.close()
  const reeve = await embed({ store: address })
  try {
    await reeve.openSession({ session: 's1' })
    const session = reeve.as('session:s1')
    const times: number[] = []
    for (let sample = -WARM_UP; sample < samples; sample++) {
      const begun = now()
      const refused = await session.spawn({ kind: 'tool', spec: { tool: 'never', input: null } }).then(
        () => false,
        () => true,
      )
      if (!refused) throw new Error('The check let it pass.')
      if (sample >= 0) times.push(now() - begun)
    }
    return quantile(times, 0.5)
  } finally {
    await reeve.close()
  }
}
