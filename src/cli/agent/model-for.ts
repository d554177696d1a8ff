import { ReeveError } from '../../core/errors.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { chooseModel } from './choose-model.ts'

/** The model of a new agent that is named, or else that of its image, which undefined stands for. */
export async function modelFor(
  context: Context,
  reeve: ReeveVerbs,
  { image: name, model, folder }: { image: string | undefined; model: string | undefined; folder: string },
): Promise<string | undefined> {
  if (name === undefined || model !== undefined) return chooseModel(context, reeve, model)
  try {
    const { image } = await reeve.image({ name, folder })
    return image.models === undefined ? await chooseModel(context, reeve, undefined) : undefined
  } catch (error) {
    // A session may not look at files of images, and yet make an agent from one: the daemon knows its model.
    if (error instanceof ReeveError && error.code === 'denied') return undefined
    throw error
  }
}
