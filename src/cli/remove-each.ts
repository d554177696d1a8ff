import { NOT_FOUND } from './exit-code.ts'
import type { Printer } from './print/printer.ts'

interface Removable {
  /** The noun for the removed thing in messages and in the subcommand. */
  readonly noun: string
  /** The member of the JSON output that has the id. */
  readonly key: string
  /** False if there is none with this id. */
  readonly remove: (id: string) => Promise<boolean>
}

/** Removes each of `ids`, prints those that were there, and returns the exit code. */
export async function removeEach(
  print: Printer,
  ids: readonly string[],
  { noun, key, remove }: Removable,
): Promise<number> {
  let code = 0
  const removed: { readonly [member: string]: string }[] = []
  for (const id of ids) {
    if (await remove(id)) {
      removed.push({ [key]: id })
      if (!print.isJson) print.line(id)
      continue
    }
    print.failure({
      code: 'not_found',
      message: `There is no ${noun} ${id}.`,
      remedy: `Run reeve ${noun} list to see them.`,
    })
    code = NOT_FOUND
  }
  if (print.isJson) print.jsonList(removed)
  return code
}
