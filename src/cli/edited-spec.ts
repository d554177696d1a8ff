import { isDeepStrictEqual } from 'node:util'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import type { Context } from './context.ts'
import { editText } from './edit-text.ts'
import { UsageError } from './usage-error.ts'

type Spec = NonNullable<Parameters<ReeveVerbs['approve']>[0]['spec']>

/** As masked answers show a secret. */
const MASKED = /\*{6,}/

/**
 * The spec that the person wants to run instead of the requested one: from `--spec`, or from the editor. null if it is the requested
 * one: a person who leaves the editor without a change has not said yes.
 */
export async function editedSpec(
  { options, around }: Context<{ readonly spec: string | undefined }>,
  reeve: ReeveVerbs,
  id: string,
): Promise<Spec | null> {
  const { approval } = await reeve.approval({ id })
  const { spec } = await reeve.show({ pid: approval.pid })
  const unlessSame = (edited: Spec) => (isDeepStrictEqual(edited, spec) ? null : edited)
  if (options.spec !== undefined) return unlessSame(specIn(options.spec))
  const text = JSON.stringify(spec, null, 2)
  if (MASKED.test(text))
    throw new UsageError(
      'The spec has a secret in it, which is not shown, so that an edit would lose it.',
      'Give the whole spec with --spec <json>.',
    )
  return unlessSame(specIn(await editText(around, `${approval.pid}.json`, `${text}\n`)))
}

function specIn(text: string): Spec {
  const wrong = (why: string) => new UsageError(`The spec is no JSON object: ${why}`, 'Nothing was answered.')
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error))
  }
  if (typeof found !== 'object' || found === null || Array.isArray(found)) throw wrong('give { … }')
  return found as Spec
}
