/** The ref of the field that whoever opens a page is about to write in. */
export function focusFirst(field: HTMLElement | null): void {
  field?.focus();
}
