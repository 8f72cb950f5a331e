// What may be wider than the screen. It takes the focus, so that the arrow keys move it.
export function Scrolled({ label, children }) {
  return (
    <div class="table" role="region" aria-label={label} tabindex="0">
      {children}
    </div>
  );
}
