import { didYouMean } from '../../base/nearest-name.ts'
import type { Context } from '../context.ts'
import type { TriggerOptions } from './source-options.ts'

/** Programs may append events of any type, so one that Reeve does not have is no error; but it may be a typing error. */
export async function warnOfUnknownEvents({ print, options }: Context<TriggerOptions>): Promise<void> {
  if (options.on.length === 0) return
  const { isOwnEvent, OWN_EVENTS } = await import('../../verbs/event-types.ts')
  for (const type of options.on.filter((one) => !isOwnEvent(one)))
    print.aside(
      `${type} is no event of Reeve itself: it starts something only if a program appends it.${didYouMean(type, OWN_EVENTS)}`,
    )
}
