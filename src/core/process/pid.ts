/** Reeve's id of a process, `p_` and twelve characters; the operating system's number is `osPid`. */
export type Pid = string

/** Without i, l, o and u: no character of a pid can be misread, and no words appear. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const PID = /^p_[0-9a-hjkmnp-tv-z]{12}$/
const PREFIX = /^p_[0-9a-hjkmnp-tv-z]{4,12}$/

export function isPid(text: string): boolean {
  return PID.test(text)
}

/** A prefix of a pid has at least four characters after `p_`. */
export function isPidPrefix(text: string): boolean {
  return PREFIX.test(text)
}

/** Twelve characters of five bits each, from the first twelve bytes of a random or hashed source. */
export function pidFrom(bytes: Uint8Array): Pid {
  let text = 'p_'
  for (let index = 0; index < 12; index++) text += ALPHABET[(bytes[index] ?? 0) & 31]
  return text
}
