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
  const { image } = await reeve.image({ name, folder })
  return image.models === undefined ? chooseModel(context, reeve, undefined) : undefined
}
