import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { policyPathOf } from '../core/capability/in-workspace.ts'

/**
 * The owner of a policy file that does not count: in a folder that everyone can write, any user could stop the agents of all others.
 * It counts if it belongs to this user, to root, or to the owner of its folder; undefined then. `uid`: of the opened file.
 */
export async function foreignOwner(folder: string, uid: number | null): Promise<number | undefined> {
  const self = process.getuid?.()
  if (self === undefined) return undefined
  const path = policyPathOf(folder)
  // A link of another user could name a file of this one.
  const owners = [uid, await ownerOf(path), await ownerOf(dirname(path))]
  const others = owners.filter((owner) => owner !== null && owner !== self && owner !== 0)
  if (others.length === 0) return undefined
  const ofFolder = await ownerOf(folder)
  return others.find((owner) => owner !== ofFolder) ?? undefined
}

async function ownerOf(path: string): Promise<number | null> {
  return lstat(path).then(
    ({ uid }) => uid,
    () => null,
  )
}
