document.querySelectorAll("button[data-copy]").forEach(function (button) {
  button.hidden = false;
  button.addEventListener("click", function () {
    var source = document.getElementById(button.dataset.copy), range = document.createRange();
    range.selectNodeContents(source);
    window.getSelection().removeAllRanges();
    window.getSelection().addRange(range);
    var done = function () { button.textContent = "Copied"; };
    var old = function () { if (document.execCommand("copy")) { done(); } };
    if (navigator.clipboard) { navigator.clipboard.writeText(source.textContent).then(done, old); } else { old(); }
  });
});
