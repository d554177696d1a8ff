import type { Actor } from '../process/record.ts'
import type { Image } from './image.ts'

/** A version of an image in the store. */
export interface RegisteredImage {
  readonly image: Image
  readonly hash: string
  /** How many versions were registered under the name, this one included. 0: of a file of a workspace that an agent was made from. */
  readonly version: number
  readonly at: number
  readonly by: Actor
}

/** The subject under which the present version is stored. */
export function imageSubject(name: string): string {
  return `image:${name}`
}

/** The subject of a version, which stays when the name gets another one. */
export function versionSubject(name: string, hash: string): string {
  return `image:${name}@${hash}`
}
