/** Distinct texts, numbered from 0 in the order in which they first occur. */
export class NumberedTexts {
  readonly all: string[] = []
  private readonly ids = new Map<string, number>()

  id(text: string): number {
    let id = this.ids.get(text)
    if (id === undefined) this.ids.set(text, (id = this.all.push(text) - 1))
    return id
  }
}
