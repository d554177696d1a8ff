import { type Embedded, type EmbedOptions, embed } from 'reeve'
import { expect, onTestFinished } from 'vitest'
import { tempStore } from './temp-folder.ts'
import { TEST_PRESET } from './test-preset.ts'

/**
 * Embeds a Reeve over a temporary store, or over the given one, and closes it when the test is over. A background failure
 * fails the test, unless `onTrouble` is given.
 */
export async function embedTemp(options: Partial<EmbedOptions> = {}): Promise<Embedded> {
  const troubles: unknown[] = []
  const reeve = await embed({
    store: options.store ?? tempStore(),
    onTrouble: (error) => troubles.push(error),
    ...TEST_PRESET,
    ...options,
  })
  onTestFinished(async () => {
    await reeve.close()
    expect(troubles).toEqual([])
  })
  return reeve
}
