import { accessSync, constants } from 'node:fs'

export function isExecutable(path: string): boolean {
  return allows(path, constants.X_OK)
}

export function isWritable(path: string): boolean {
  return allows(path, constants.W_OK)
}

/** Whether this user may access the path in this mode (`constants.R_OK | constants.X_OK`). */
export function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
